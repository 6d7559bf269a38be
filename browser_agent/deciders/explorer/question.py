"""Splits a task into the words and the code names that pages are searched for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ctxfold.text import words
from ctxfold.tokens import rarity

__all__ = ["Question"]

_CODE = re.compile(
    r"`([^`\s]+)`|([^\W\d]\w*(?:\.\w+)+|[^\W\d]\w*_\w*|_\w+|\w+(?=\()|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|--[a-z][\w-]*)"
)
"""What is written as code: in backticks, with dots, underscores, brackets or humps, or as a flag."""
_TOKEN = re.compile(r"[^\W_](?:[\w.-]*\w)?")
_RARE = 3
"""The words of a search that is made when all words together bring nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """A task as the explorer looks at it.

    Attributes:
        text: the task.
        words: its words, each with how rare it is in any text: a word that stands everywhere tells little.
        names: what it writes as code is written, in lower case: `functools.lru_cache`, `Popen()`, `max_size`.
    """

    text: str
    words: Mapping[str, float]
    names: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Question:
        """Read a task."""
        told: dict[str, float] = {}
        for token in _TOKEN.findall(text):
            parts = words(token)
            told.update(
                (word, rarity(token.lower() if len(parts) == 1 else word)) for word in parts if word not in told
            )
        names = (next(filter(None, found)).strip("._").lower() for found in _CODE.findall(text))
        return cls(text, told, tuple(dict.fromkeys(filter(None, names))))

    @property
    def queries(self) -> tuple[str, ...]:
        """What a site's search is asked, in order: all words, each name, the rarest words, the rarest."""
        tokens = list(dict.fromkeys(_TOKEN.findall(self.text)))
        rarest = sorted(tokens, key=lambda token: -max(map(rarity, words(token)), default=0.0))
        rare = [token for token in tokens if token in rarest[:_RARE]]
        found = (" ".join(tokens), *self.names, " ".join(rare), *rarest[:1])
        return tuple(dict.fromkeys(filter(None, found)))
