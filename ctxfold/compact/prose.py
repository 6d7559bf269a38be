"""Prose said by the assistant, shortened without losing a value: its head, what it asks, and every sentence that brings something new.

Restating what a tool returned is most of an assistant's prose; those sentences yield to the rows that hold the same values.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ctxfold.ledger import Ledger
from ctxfold.text import sentences
from ctxfold.tokens import count, head

__all__ = ["parts", "shorten", "values"]

_VALUE = re.compile(r"[^\s\"'`()\[\]{}<>*,;，。、；：！？|=]+")
_TELLING = re.compile(r"\d|[@/_\\#]|\w[A-Z]|^[A-Z]{3,}$")
_PART = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")

WHOLE = 16
"""Tokens up to which prose stays as it is."""
HEAD = 8
"""Tokens of the head that always stays."""


def values(text: str) -> set[str]:
    """The words of a text that carry a value: with a digit or an address sign, or written in capitals. Lower case, without a currency sign."""
    found = {_told(word) if len(word) <= _SHORT else _value(word) for word in set(_VALUE.findall(text))}
    found.discard("")
    return found


def _value(word: str) -> str:
    """The value that a word carries, or nothing."""
    bare = word.strip(".:!?-—–…$€£¥%~")
    return bare.lower() if len(bare) > 1 and _TELLING.search(bare) else ""


_told = lru_cache(maxsize=16_384)(_value)
_SHORT = 64
"""Characters of a word whose value is kept in memory."""


def parts(value: str) -> list[str]:
    """What a value is made of: `2024-05-27` has three parts. Numbers lose their leading zeros."""
    return [part.lstrip("0") or "0" for part in _PART.findall(value)]


def shorten(text: str, past: Ledger) -> str:
    """The compact form of something the assistant said.

    Args:
        text: the whole of it.
        past: what stands in the view already.

    Returns:
        The text itself when it is short or nothing could go; else its head and every sentence with a question or a value that stands nowhere yet.
    """
    if len(text) <= WHOLE or count(text) <= WHOLE:
        return text
    pieces = [text[span.start : span.end].strip() for span in sentences(text)]
    kept: list[str] = []
    told: set[str] = set()
    asked = max((at for at, piece in enumerate(pieces) if piece.endswith(("?", "？"))), default=-1)
    for at, piece in enumerate(pieces):
        fresh = {value for value in values(piece) if value not in told and not _stands(value, past)}
        told |= fresh
        if fresh:
            kept.append(piece)
        elif at in (0, asked):
            kept.append(piece if count(piece) <= HEAD + 4 else f"{head(piece, HEAD)}{CUT}")
        elif kept and not kept[-1].endswith(CUT):
            kept.append(CUT)
    short = " ".join(kept).replace(f" {CUT}", CUT)
    return short if CUT in short and count(short) + 2 < count(text) else text


CUT = "…"
"""What stands where something was left out; the whole of it is at the step's address."""


def _stands(value: str, past: Ledger) -> bool:
    return past.says(value) or all(past.says(part) for part in parts(value))
