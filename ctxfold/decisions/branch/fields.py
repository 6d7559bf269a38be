"""Which field of everyday life a text is about, by a list of telling words. It knows how fields go together; it decides nothing.

Word overlap alone cannot know that a rail pass belongs to a journey and a cover letter to a job. The list is small and says only that; where it
knows no word, it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files

from ctxfold.text import words

__all__ = ["fields_of", "kinship"]


@lru_cache(maxsize=8_192)
def fields_of(text: str) -> Mapping[str, float]:
    """How much of a text tells of each field: shares that sum to 1, or nothing.

    Args:
        text: any text.
    """
    told: dict[str, float] = {}
    table, _ = _tables()
    for word in dict.fromkeys(words(text)):
        named = table.get(word, ())
        for field in named:
            told[field] = told.get(field, 0.0) + 1 / len(named)
    total = sum(told.values())
    return {field: share / total for field, share in told.items()}


def kinship(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """How well two texts' fields go together: 1 for the same, between for fields that do, 0 for strangers; None where one tells of none.

    Args:
        one: what `fields_of` gave.
        other: likewise, or a sum of such.
    """
    total = sum(other.values())
    if not one or not total:
        return None
    _, friends = _tables()
    found = 0.0
    for field, share in one.items():
        same = other.get(field, 0.0) / total
        near = sum(value for name, value in other.items() if name in friends[field]) / total
        found += share * min(1.0, 3 * same + 1.2 * near)
    return min(1.0, found)


@cache
def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, frozenset[str]]]:
    """Words to fields, and fields to those they go well with."""
    by_word: dict[str, list[str]] = {}
    friends: dict[str, set[str]] = {}
    for head, told in _lines():
        name, _, near = head.partition("+")
        name = name.strip()
        friends.setdefault(name, set()).update(near.split())
        for word in words(" ".join(term for term in told.split() if "-" not in term)):
            if name not in by_word.setdefault(word, []):
                by_word[word].append(name)
    for name, near_to in list(friends.items()):
        for other in near_to:
            friends.setdefault(other, set()).add(name)
    return {word: tuple(names) for word, names in by_word.items()}, {
        name: frozenset(to) for name, to in friends.items()
    }


def _lines() -> Iterable[tuple[str, str]]:
    text = files(__package__).joinpath("fields.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            head, _, told = line.partition(":")
            yield head, told
