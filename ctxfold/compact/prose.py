"""Prose said by the assistant, shortened without losing a value: its head, what it asks, and every sentence that brings something new.

Restating what a tool returned is most of an assistant's prose; those sentences yield to the rows that hold the same values.
"""

from __future__ import annotations

import re

from ctxfold.ledger import Ledger
from ctxfold.tokens import count

__all__ = ["sentences", "shorten", "values"]

_SENTENCE = re.compile(r"[^\n]*?(?:[.!?。！？]['\")\]]*(?=\s|$)|[。！？]|\n|$)\s*")
_VALUE = re.compile(r"[^\s\"'`()\[\]{}<>*,;，。、；：！？]+")
_TELLING = re.compile(r"[\d@/_\\#$€£¥]|\w[A-Z]|^[A-Z]{2,}")

WHOLE = 40
"""Tokens up to which prose stays as it is."""
HEAD = 24
"""Tokens of the head that always stays."""


def sentences(text: str) -> list[str]:
    """The text cut at sentence and line ends; joined, the pieces are the text."""
    return [found[0] for found in _SENTENCE.finditer(text) if found[0]]


def values(text: str) -> set[str]:
    """The words of a text that carry a value: with a digit, an address or path sign, or written in capitals. Lower case."""
    words = (found[0].strip(".:!?-—–…") for found in _VALUE.finditer(text))
    return {word.lower() for word in words if word and _TELLING.search(word)}


def shorten(text: str, ref: str, past: Ledger) -> str:
    """The compact form of something the assistant said.

    Args:
        text: the whole of it.
        ref: its address, written where something was left out.
        past: what stands in the view already.

    Returns:
        The text itself when it is short or nothing could go; else its head and every sentence with a question or a value that stands nowhere yet.
    """
    if len(text) <= WHOLE or count(text) <= WHOLE:
        return text
    pieces = sentences(text)
    kept: list[str] = []
    told: set[str] = set()
    spent, cut = 0, False
    for at, piece in enumerate(pieces):
        fresh = {word for word in values(piece) if word not in told and not past.says(word)}
        price = count(piece)
        if at == 0 or spent + price <= HEAD or fresh or piece.rstrip().endswith(("?", "？")):
            kept.append(piece)
            spent += price
            told |= fresh
        elif kept and not kept[-1].endswith("… "):
            kept[-1] = kept[-1].rstrip() + " … "
            cut = True
        else:
            cut = True
    short = "".join(kept).rstrip()
    if not cut or count(short) + 4 >= count(text):
        return text
    return f"{short} [{ref}]"
