"""Rows that stand on their own: ditto marks filled in from the row above, and set again between the rows of a table that were kept. It drops nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.compact.cells import DITTO
from ctxfold.compact.cut import whole
from ctxfold.compact.ditto import dittoed_again, spelled_out
from ctxfold.lines import Line
from ctxfold.tokens import count

__all__ = ["abridged", "spelled"]

_MARK = f" {DITTO}"
_AGAIN = " (as above)"


def spelled(lines: Sequence[Line]) -> list[Line]:
    """The same lines, each row of a table with the cells it shares with the row above written out."""
    made: list[Line] = []
    above: tuple[str, int, str] | None = None
    for each in lines:
        line = each
        if line.kind not in ("data", "call"):
            above = None
            made.append(line)
            continue
        words = line.words
        text, cut = whole(words)
        indent = len(line.text) - len(words)
        if above is not None and above[:2] == (line.ref, indent) and (_MARK in text or text.startswith(DITTO)):
            full = spelled_out(text, above[2])
            if full != text:
                line = line.reworded(
                    line.text[:indent] + full + cut, line.tokens + count(full) - count(text), line.keys
                )
                text = full
        above = (line.ref, indent, text)
        made.append(line)
    return made


def abridged(lines: Sequence[Line]) -> list[Line]:
    """The same lines, spelled out before, with a ditto mark for each cell that a row of a table shares with the row it now stands under."""
    made: list[Line] = []
    above: tuple[str, int, str] | None = None
    for line in lines:
        words = line.words
        text, cut = whole(words)
        indent = len(line.text) - len(words)
        row = line.kind == "data" and "=" not in text and not text.endswith((":", _AGAIN))
        short = dittoed_again(text, above[2]) if row and above is not None and above[:2] == (line.ref, indent) else text
        if short != text:
            made.append(
                line.reworded(line.text[:indent] + short + cut, line.tokens + count(short) - count(text), line.keys)
            )
        else:
            made.append(line)
        above = (line.ref, indent, text) if row else None
    return made
