"""How much a line has to do with what the session is about now. It ranks; it never decides what goes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Query"]

_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Query:
    """The words of the goal, the open to-do and the latest messages, each with a weight."""

    weights: tuple[tuple[str, float], ...]

    @staticmethod
    def of(parts: Iterable[tuple[str, float]]) -> Query:
        """A query from texts and their weights; the highest weight of a word counts."""
        found: dict[str, float] = {}
        for text, weight in parts:
            for word in _WORD.findall(text[:20_000].lower()):
                if len(word) > 2 or word.isdigit():
                    found[word] = max(weight, found.get(word, 0.0))
        return Query(tuple(found.items()))

    def score(self, text: str) -> float:
        """The weight of the query's words in a text, by the square root of its length."""
        words = set(_WORD.findall(text[:20_000].lower()))
        if not words:
            return 0.0
        return sum(weight for word, weight in self.weights if word in words) / math.sqrt(len(words))
