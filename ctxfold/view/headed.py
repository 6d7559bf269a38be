"""Which lines of a text are rows under a header: a row that stays without it would be numbers without names. It keeps the lines as they are."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

__all__ = ["headed"]

_RULE = re.compile(r"\s*+[|+]?\s*+:?-{2,}+[-\s|+:]*+|\s*+(?:[|+]\s*+:?-++:?\s*+)++[|+]?\s*+")
"""The line under a header in Markdown, of a database's shell and of many tables drawn with signs."""
_CAPITALS = re.compile(r"\s*+[%A-Z][A-Z0-9%_/()#-]*+(?:\s++[A-Z0-9%_/()#-]++){2,}\s*+")
"""A header as the tools of a shell write it: `NAME  READY  STATUS`."""
_NAME = re.compile(r"[^\W\d][\w .#%/()-]{0,39}")
"""What a column is called, where nothing but its place says that it is a name."""
_SIGNS = {"\t": 2, ",": 3, ";": 3, "|": 3}
"""Columns from which what stands between these signs is a table."""
_CELLS = re.compile(r"\s{2,}|\t|\|")
_CELL = re.compile(r"\S+")
_ROWS = 2
"""Rows, and columns with a name, from which a text is a table."""


def headed(lines: Sequence[str]) -> list[tuple[str, bool]]:
    """The lines of a text, each with whether it is a row of the table whose header is the newest line before it that is none.

    Args:
        lines: the lines of the text, none of them blank.

    Returns:
        The same lines but for the rules that are drawn in tables: they say nothing.
    """
    found: list[tuple[str, bool]] = []
    bare = [line.strip() for line in lines]
    at = 0
    while at < len(lines):
        end = _drawn(bare, at) or (_listed(bare) if at == 0 else 0) or _aligned(lines, at)
        found.append((lines[at], False))
        rows = [line for line in lines[at + 1 : end] if not _RULE.fullmatch(line)]
        if len(rows) >= _ROWS:
            found += ((row, True) for row in rows)
            at = end
        else:
            at += 1
    return found


def _drawn(lines: Sequence[str], at: int) -> int:
    """Where a table ends whose header is ruled off; 0 where none begins here."""
    if at + 1 == len(lines) or not _RULE.fullmatch(lines[at + 1]) or _RULE.fullmatch(lines[at]):
        return 0
    bars, columns = "|" in lines[at], len(_CELLS.split(lines[at].strip().strip("|")))
    end = at + 2
    while end < len(lines) and columns > 1 and (("|" in lines[end]) if bars else len(_CELLS.split(lines[end])) > 1):
        end += 1
    return end


def _aligned(lines: Sequence[str], at: int) -> int:
    """Where a table ends whose cells end below the names of their columns, behind a column without a name, as data frames are printed; 0 where none begins."""
    names = list(_CELL.finditer(lines[at]))
    if len(names) < _ROWS or names[0].start() == 0 or not all(_NAME.fullmatch(name[0]) for name in names):
        return 0
    edges = {name.end() for name in names}
    end = at + 1
    if end < len(lines) and lines[end][:1] != " " and len(lines[end].split()) == 1:
        end += 1  # what the column without a name is called
    while end < len(lines):
        cells = [cell.end() for cell in _CELL.finditer(lines[end])]
        if len(cells) <= len(names) or not edges.issubset(cells):
            break
        end += 1
    return end


def _listed(lines: Sequence[str]) -> int:
    """Where a table ends that begins a text with a header in capitals, or is the whole of it between commas or tabs; 0 where it does not."""
    if _CAPITALS.fullmatch(lines[0]):
        return len(lines)
    for sign, columns in _SIGNS.items():
        if lines[0].count(sign) + 1 >= columns and _separated(lines, sign):
            return len(lines)
    return 0


def _separated(lines: Sequence[str], sign: str) -> bool:
    """Whether every line holds as many cells as the first, none beginning with a blank, under short names. Prose and code have commas too."""
    try:
        rows = list(csv.reader(lines, delimiter=sign, strict=True))
    except csv.Error:
        return False
    alike = len(rows) == len(lines) and all(len(row) == len(rows[0]) for row in rows)
    return alike and all(map(_NAME.fullmatch, rows[0])) and not any(cell[:1] == " " for row in rows for cell in row)
