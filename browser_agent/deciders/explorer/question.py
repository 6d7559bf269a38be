"""Splits a task into its questions, and each into the words and the code names that pages are searched for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ctxfold.text import query_weights, sentences, words
from ctxfold.tokens.ranks import rarity

__all__ = ["Question", "split_task"]

_CODE = re.compile(
    r"`([^`\s]+)`|([^\W\d]\w*(?:\.\w+)+|[^\W\d]\w*_\w*|_\w+|\w+(?=\()|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|--[a-z][\w-]*)"
)
"""What is written as code: in backticks, with dots, underscores, brackets or humps, or as a flag."""
_TOKEN = re.compile(r"[^\W_](?:[\w.-]*\w)?")
_ASKED = re.compile(r"[?？؟][\"'”’»)\]」』]*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s+")
_MANY = 2.0
_RARE = 3
"""The words of a search that is made when all words together bring nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """A task as the explorer looks at it: its words, each with how rare it is in any text, since one that stands everywhere tells little.

    `names`: what it writes as code is written, in lower case: `functools.lru_cache`, `Popen()`, `max_size`.
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


def split_task(text: str) -> tuple[str, ...]:
    """The questions of a task, in order: each sentence that ends with a question mark; where none does, each line.

    What stands before a question belongs to it, what stands after the last to that; one that names nothing, as "And why?", to the one before.
    """
    parts = [_ITEM.sub("", span.of(text).strip()) for span in sentences(text)]
    if not any(map(_ASKED.search, parts)):
        return tuple(filter(None, (_ITEM.sub("", line).strip() for line in text.splitlines()))) or (text,)
    found: list[str] = []
    asked = True
    for part in parts:
        if found and not (asked and _names_something(part)):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
        asked = bool(_ASKED.search(part))
    return tuple(found) if asked else (*found[:-2], " ".join(found[-2:]))


def _names_something(text: str) -> bool:
    """Whether a text has a word that counts in full, or as much in several."""
    weights = query_weights(text).values()
    return max(weights, default=0.0) >= 1.0 or sum(weights) >= _MANY
