"""Ditto marks: set for the cells that a row shares with the row above it, and filled in again. It knows a row's text, not what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import eq

from ctxfold.log.compact.cells import ABOVE, DITTO
from ctxfold.log.compact.prose import whole
from ctxfold.log.lines import Line
from ctxfold.tokens import count

__all__ = ["abridged", "dittoed", "dittoed_again", "first_cell", "spelled", "spelled_out"]


_WORTH_DITTO = 3
"""Characters of a cell from which a ditto mark is cheaper."""
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[ ()\[\]]')
_CELL = re.compile(r'(?:[^ "()\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")++')
"""A cell that holds no list and no object, where every quote is closed and one blank stands between two cells."""

_NAMES = re.compile(r"[^\W\d]+\d|\d[^\W\d]")
_BELOW = f"{ABOVE}:"
_ALIKE = re.compile(rf"(?:(?:-|[^\s=]+:) )?as (?!{ABOVE}:)[^\s=]+: ")


def dittoed(line: Sequence[str], above: Sequence[str] | None) -> str:
    """A row of cells, those like the row above as ditto marks."""
    if above is None or len(above) != len(line) or not any(map(eq, line, above)):
        return " ".join(line)
    return " ".join(
        [DITTO if part == up and len(part) >= _WORTH_DITTO else part for part, up in zip(line, above, strict=True)]
    )


def spelled_out(text: str, above: str) -> str:
    """A row with its ditto marks filled in from the row above it, itself spelled out; the row as it is when it has none, or names another for them."""
    parts, up = _parts(text), _parts(above)
    if DITTO not in parts or len(parts) != len(up) or _ALIKE.match(text):
        return text
    return " ".join([there if part == DITTO else part for part, there in zip(parts, up, strict=True)])


def dittoed_again(text: str, above: str) -> str:
    """A row with what it shares with the row above it as ditto marks, both spelled out; what names a thing, letters with digits, stays."""
    parts, up = _parts(text), _parts(above)
    if len(parts) != len(up) or not any(map(eq, parts, up)) or _ALIKE.match(text):
        return text
    return " ".join(
        [DITTO if part == there and _may_ditto(part) else part for part, there in zip(parts, up, strict=True)]
    )


def first_cell(text: str) -> str:
    """The cell a row begins with, whatever is in it."""
    return _parts(text)[0]


def _may_ditto(part: str) -> bool:
    """Whether a cell like the one above it may become a ditto mark."""
    return len(part) >= _WORTH_DITTO and part != _BELOW and _NAMES.search(part) is None


@lru_cache(maxsize=512)
def _parts(text: str) -> tuple[str, ...]:
    """The cells of a row: cut at each blank that stands neither in quotes, nor in a list of records, nor in an object."""
    made = _CELL.findall(text)
    if made and " ".join(made) == text:
        return tuple(made)
    parts: list[str] = []
    depth = start = 0
    for found in _MARKS.finditer(text):
        match found[0]:
            case " " if depth == 0:
                parts.append(text[start : found.start()])
                start = found.end()
            case "[" | "(":
                depth += 1
            case "]" | ")":
                depth = max(depth - 1, 0)
            case _:
                pass
    return (*parts, text[start:])


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
