"""Counts tokens, and finds where a text must end to cost no more than a number of them. It never refuses a text.

Counts are kept by content, in bounded memory, so a block that stands in many views is counted once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from ctxfold.tokens.pieces import PIECE, Piece, pieces
from ctxfold.tokens.ranks import encoding
from ctxfold.tokens.units import Units

_SHORT = 128
"""Texts up to this many characters are their own key; longer ones are known by a digest, so the cache holds no big text."""

_WIDE = 8
"""Characters for a token, generously: a look at this much of a text often shows that it is too long."""


class _Counts:
    """Counts by content, in two halves: when the newer is full, what was not asked for since the older was is forgotten.

    Safe among threads without a lock: each step is one operation on one dictionary, and a lost count is counted again.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._newer: dict[str | bytes, int] = {}
        self._older: dict[str | bytes, int] = {}

    def of(self, piece: str) -> int:
        """Tokens of one piece (see `pieces`), from memory where it was counted before."""
        key = (
            piece if len(piece) <= _SHORT else blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        )
        tokens = self._newer.get(key)
        if tokens is None:
            tokens = self._older.get(key)
            if tokens is None:
                tokens = _units.of(piece) if piece.isascii() else _counted(piece)
            if len(self._newer) >= self._half:
                self._newer, self._older = {}, self._newer
            self._newer[key] = tokens
        return tokens


_counts = _Counts(most=16_384)


def count(text: str) -> int:
    """What `text` costs, in o200k tokens. Special tokens in it, such as `<|endoftext|>`, count as the text they are.

    Args:
        text: any string: any length, any script, lone surrogates included (each counts as U+FFFD).

    Returns:
        Tokens, 0 for the empty string: as many as the tokenizer gives where it takes the text at once. Only half characters (lone surrogates) and
        signs or newlines by the ten thousand without a blank may put it off by a few.

    Raises:
        BrokenInstall: the package's rank table is missing or altered. No text makes it raise.
    """
    return _counts.of(text) if len(text) <= PIECE else sum(map(_cost, pieces(text)))


def _cost(piece: Piece) -> int:
    return _counts.of(piece.text) if piece.tokens is None else piece.tokens


def head(text: str, tokens: int) -> str:
    """The longest start of `text` that costs at most `tokens`, ended at a word, or at a sentence where one ends nearby.

    A text without blanks is cut between characters. Only as much of the text is read as is needed, so the start of a text of
    many megabytes comes as fast as that of a page.

    Args:
        text: any string.
        tokens: the most it may cost, in o200k tokens; nothing is returned for less than 1.

    Returns:
        A prefix of `text`, the whole of it if it costs no more than `tokens`.
    """
    room, end = max(tokens, 0), 0
    for each in pieces(text):
        piece = each.text
        start = piece[: room * _WIDE + _SHORT]
        if _counts.of(start) > room:
            return _fitting(text, tokens, end, _encode(start)[:room])
        cost = _cost(each)
        if cost > room:
            return _fitting(text, tokens, end, _encode(piece)[:room])
        room -= cost
        end += len(piece)
    return text


def _fitting(text: str, tokens: int, start: int, ids: Sequence[int]) -> str:
    """The head of `text` that ends within `ids`, the tokens that may still follow from `start` on.

    A cut inside a token can make what is left of it cost more than it did, so the result is counted, and cut shorter if need be.
    """
    for left in range(len(ids), 0, -1):
        kept = text[: _settle(text, start + _characters(ids[:left]))]
        if count(kept) <= tokens:
            return kept
    return text[:start]


_BLANK = re.compile(r"\s")
_SENTENCE_END = re.compile(r"""[.!?…]["')\]]*(?=\s)|[。！？]|\n""")
_LOOK_BACK = 400


def _settle(text: str, end: int) -> int:
    """The nearest good end at or before `end`: a sentence's if that keeps three quarters, else a word's if that keeps a half."""
    if end <= 0 or end >= len(text):
        return max(end, 0)
    low = max(end - _LOOK_BACK, end * 3 // 4)
    sentences = [found.end() for found in _SENTENCE_END.finditer(text, low, end + 1) if found.end() <= end]
    if sentences:
        return _trimmed(text, sentences[-1])
    if _BLANK.match(text, end):
        return _trimmed(text, end)
    words = [found.start() for found in _BLANK.finditer(text, max(end - _LOOK_BACK, end // 2), end)]
    return _trimmed(text, words[-1]) if words else end


def _trimmed(text: str, end: int) -> int:
    """`end` moved before the blanks that precede it, unless blanks are all there is."""
    return len(text[:end].rstrip()) or end


def _characters(ids: Sequence[int]) -> int:
    """How many whole characters these tokens spell: a character cut in two at the end is not one."""
    return len(encoding().decode_bytes(ids).decode("utf-8", "ignore"))


def _counted(piece: str) -> int:
    return len(_encode(piece))


def _encode(piece: str) -> list[int]:
    return encoding().encode_ordinary(piece)


_units = Units(_counted, most=32_768)
