"""Cuts a text into pieces that a tokenizer can take. Pure, lazy and deterministic; the pieces joined are the text.

The tokenizer's pattern backtracks over runs of blanks, and gives up with a panic somewhere below a million of them. So no piece
is longer than `PIECE` characters. Cuts are made where the pattern would split anyway, which keeps the sum of the pieces' counts
equal to the count of the whole; only a text with no line or word end for thousands of characters is cut elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["PIECE", "pieces", "steady"]

PIECE = 24_576
"""Most characters in a piece: under 100 kB of UTF-8 whatever the script."""

_REACH = 4_096
"""How far back from a piece's end a good cut is sought."""

_LINE_END = re.compile(r"\n(?=[^\s/])")  # newlines take following blanks, and a slash, into one token
_WORD_END = re.compile(r"(?<=\S)(?= \S)")  # a word takes one blank before it


def pieces(text: str) -> Iterator[str]:
    """The text in order, in pieces of 1 to `PIECE` characters: at a line's end where one is near, else a word's, else anywhere."""
    start = 0
    while len(text) - start > PIECE:
        end = _cut(text, start + PIECE)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, limit: int) -> int:
    """The last good place to cut in the `_REACH` characters up to `limit`, else `limit` itself."""
    for ending in (_LINE_END, _WORD_END):
        places = [found.end() for found in ending.finditer(text, limit - _REACH, limit + 2)]
        within = [place for place in places if place <= limit]
        if within:
            return within[-1]
    return limit


def steady(text: str) -> bool:
    """Whether a text has good places to cut all along, so that its count is exact wherever in a longer text it stands."""
    half = _REACH // 2
    return all(
        _LINE_END.search(text, at, at + half) or _WORD_END.search(text, at, at + half)
        for at in range(0, len(text) - half, half)
    )
