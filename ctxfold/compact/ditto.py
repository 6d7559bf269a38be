"""Ditto marks: set for the cells that a row shares with the row above it, and filled in again. It knows a row's text, not what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import eq

from ctxfold.compact.cells import ABOVE, DITTO

__all__ = ["dittoed", "dittoed_again", "first_cell", "spelled_out"]

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
