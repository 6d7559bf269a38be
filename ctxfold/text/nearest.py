"""The line of a text that is nearest to some words, however long the text or the line. It weighs no word against another."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.text.words import words

__all__ = ["best_line"]

_AROUND = 1_000
"""Characters before and behind a word in which a long line is judged."""
_PLACES = 64
"""Places in one long line that are judged."""
_MANY = 400_000
"""Characters of all lines from which those that do not hold a word letter by letter are passed over."""


def best_line(lines: Sequence[str], wanted: frozenset[str]) -> tuple[int, int]:
    """The line that holds most of some words, the first of several.

    Args:
        lines: where to look.
        wanted: words in lower case.

    Returns:
        Its number, from 0, and the place in it round which they stand; 0 and 0 where no line holds any.
    """
    if not wanted:
        return 0, 0
    some = re.compile("|".join(map(re.escape, sorted(wanted, key=lambda word: (-len(word), word)))))
    sifted = sum(map(len, lines)) > _MANY
    best, place, most = 0, 0, 0
    for at, line in enumerate(lines):
        low = line.lower()
        if sifted and some.search(low) is None:
            continue
        overlap, where = _held(line, low, some, wanted)
        if overlap > most:
            best, place, most = at, where, overlap
    return best, place


def _held(line: str, low: str, some: re.Pattern[str], wanted: frozenset[str]) -> tuple[int, int]:
    """How many of the words a line, or the best stretch of a long one, holds; and the place of the first of them there."""
    if len(line) <= 2 * _AROUND:
        first = some.search(low)
        return len(wanted & set(words(line))), first.start() if first else 0
    places = [found.start() for _, found in zip(range(_PLACES), some.finditer(low), strict=False)]
    judged = ((len(wanted & set(words(line[max(0, at - _AROUND) : at + _AROUND]))), -at) for at in places)
    most, at = max(judged, default=(0, 0))
    return most, -at
