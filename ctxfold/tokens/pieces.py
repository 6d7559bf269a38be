"""Cuts a text into pieces that a tokenizer can take. Pure, lazy and deterministic; the pieces joined are the text.

The tokenizer's pattern backtracks over runs of blanks, and gives up with a panic somewhere below a million of them. So no piece
is longer than `PIECE` characters. Cuts are made where the pattern would split anyway, which keeps the sum of the pieces' counts
equal to the count of the whole. A text with no line or word end for thousands of characters is cut where one of its tokens ends:
byte pairs that are not joined across a place are joined on either side of it as they would be without the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ctxfold.tokens.ranks import encoding

__all__ = ["PIECE", "Piece", "pieces", "steady"]

PIECE = 24_576
"""Most characters in a piece: under 100 kB of UTF-8 whatever the script."""

_REACH = 4_096
"""How far back from a piece's end a good cut is sought."""

_UNSURE = 64
"""Tokens at a piece's end that what follows it may change."""

_LINE_END = re.compile(r"\n(?=[^\s/])")  # newlines take following blanks, and a slash, into one token
_WORD_END = re.compile(r"(?<=\S)(?= \S)")  # a word takes one blank before it


class Piece(NamedTuple):
    """A stretch of a text, and what it costs where finding its end told so."""

    text: str
    tokens: int | None = None


def pieces(text: str) -> Iterator[Piece]:
    """The text in order, in pieces of 1 to `PIECE` characters: at a line's end where one is near, else a word's, else a token's."""
    start = 0
    while len(text) - start > PIECE:
        piece = _piece(text, start, start + PIECE)
        yield piece
        start += len(piece.text)
    if start < len(text):
        yield Piece(text[start:])


def _piece(text: str, start: int, limit: int) -> Piece:
    """From `start` to the last good place to cut in the `_REACH` characters up to `limit`, else to the end of one of the last tokens there."""
    for ending in (_LINE_END, _WORD_END):
        places = [found.end() for found in ending.finditer(text, limit - _REACH, limit + 2)]
        within = [place for place in places if place <= limit]
        if within:
            return Piece(text[start : within[-1]])
    return _settled(text[start:limit])


@lru_cache(maxsize=8)
def _settled(stretch: str) -> Piece:
    """A stretch up to the last token that stays one whatever follows, and ends with a character; all of it when there is none."""
    ids = encoding().encode_ordinary(stretch)
    for kept in range(len(ids) - _UNSURE, 0, -1):
        try:
            return Piece(stretch[: len(encoding().decode_bytes(ids[:kept]).decode("utf-8"))], kept)
        except UnicodeDecodeError:
            continue  # the token ends within a character
    return Piece(stretch)


def steady(text: str) -> bool:
    """Whether a text has good places to cut all along, so that its count is exact wherever in a longer text it stands."""
    half = _REACH // 2
    return all(
        _LINE_END.search(text, at, at + half) or _WORD_END.search(text, at, at + half)
        for at in range(0, len(text) - half, half)
    )
