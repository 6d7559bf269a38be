"""How much a line has to do with what the session is about now. It ranks; it never decides what goes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ctxfold.text import query_words, words

__all__ = ["Query"]

_READ = 20_000
"""Characters of a text that are looked at."""


@dataclass(frozen=True, slots=True)
class Query:
    """The words of the goal, the open to-do and the latest messages, each with a weight."""

    weights: tuple[tuple[str, float], ...]

    @staticmethod
    def of(parts: Iterable[tuple[str, float]]) -> Query:
        """A query from texts and their weights; the highest weight of a word counts."""
        found: dict[str, float] = {}
        for text, weight in parts:
            for word in query_words(text[:_READ]):
                found[word] = max(weight, found.get(word, 0.0))
        return Query(tuple(found.items()))

    def score(self, text: str) -> float:
        """The weight of the query's words in a text, by the square root of how many words it has."""
        there = _words(text[:_READ])
        if not there:
            return 0.0
        return sum(weight for word, weight in self.weights if word in there) / math.sqrt(len(there))


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))
