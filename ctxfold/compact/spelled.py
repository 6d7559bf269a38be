"""Rows that stand on their own: ditto marks filled in from the row above, for when not every row of a table is kept. It drops nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.compact.cells import DITTO
from ctxfold.compact.tables import spelled_out
from ctxfold.lines import Line
from ctxfold.tokens import count

__all__ = ["spelled"]

_MARK = f" {DITTO}"


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
        indent = line.indent
        text = line.text[indent:]
        if above is not None and above[:2] == (line.ref, indent) and (_MARK in text or text.startswith(DITTO)):
            full = spelled_out(text, above[2])
            if full != text:
                line = line.reworded(line.text[:indent] + full, line.tokens + count(full) - count(text), line.keys)
                text = full
        above = (line.ref, indent, text)
        made.append(line)
    return made
