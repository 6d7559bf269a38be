"""How much a line has to do with what the session is about now. It ranks; it never decides what goes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from ctxfold.text import query_words, words

__all__ = ["Query"]

_READ = 20_000
"""Characters of a text that are looked at."""


@dataclass(frozen=True)
class Query:
    """The words of the goal, the open to-do and the latest messages, each with a weight."""

    weights: tuple[tuple[str, float], ...]

    @staticmethod
    def of(parts: Iterable[tuple[str, float]]) -> Query:
        """A query from texts and their weights; the highest weight of a word counts."""
        found: dict[str, float] = {}
        for text, weight in parts:
            for word in _asked(text[:_READ]):
                found[word] = max(weight, found.get(word, 0.0))
        return Query(tuple(found.items()))

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Of each of some texts the weight of the query's words in it, by the square root of how many words it has.

        A word counts the more the fewer of the texts hold it: what all of them are about tells none from another. One look at all of them
        tells which of the query's words to look for in each, most often none or one.
        """
        texts = [text[:_READ] for text in texts]
        low = [_lowered(text) if text.isascii() else None for text in texts]
        everywhere = "\n".join(filter(None, low))
        stems = [stem for stem in self._stems if stem in everywhere]
        held = [
            self._held(text) if there is None or any(map(there.__contains__, stems)) else {}
            for text, there in zip(texts, low, strict=True)
        ]
        most = math.log(1 + len(texts))
        rarity = {
            word: (math.log(1 + len(texts) / times) / most) ** 2
            for word, times in Counter(chain.from_iterable(held)).items()
        }
        return [
            _share(text, sum(weight * rarity[word] for word, weight in each.items())) if each else 0.0
            for text, each in zip(texts, held, strict=True)
        ]

    def _held(self, text: str) -> dict[str, float]:
        there = _words(text)
        return {word: weight for word, weight in self.weights if word in there}

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        """The query's words without the one letter that stemming puts in place of others: one of them stands in every ASCII text that holds its word."""
        return tuple(word.removesuffix("y") for word, _ in self.weights)


def _share(text: str, told: float) -> float:
    return told / math.sqrt(len(_words(text))) if told else 0.0


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _lowered(text: str) -> str:
    """An ASCII text as words of a query are looked for in it."""
    return text.lower().replace("'", "")


@lru_cache(maxsize=256)
def _asked(text: str) -> tuple[str, ...]:
    return tuple(query_words(text))
