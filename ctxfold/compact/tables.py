"""Columns and tables: the cells of an object by path, lists of alike objects as rows, a cell like the one before as a ditto mark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold.compact.cells import cell, is_flat, word
from ctxfold.ledger import canonical

__all__ = ["DITTO", "Cells", "Table", "cells_of", "dittoed", "grouped", "spelled_out", "table_of"]

DITTO = '"'
"""Stands for the cell above, or the cell of the row whose columns are used."""
_WORTH_DITTO = 3
"""Characters of a cell from which a ditto mark is cheaper."""
_LIST = 60
"""Characters of a list of scalars that still fits a cell."""

Cells = dict[tuple[str, ...], str]
"""The cells of an object by path, as they stand in a row."""


def cells_of(value: dict[str, Any]) -> tuple[Cells, list[str]]:
    """The cells of an object, nested objects and lists of one object included, and the names of what fits no cell.

    Args:
        value: a JSON object.
    """
    made: Cells = {}
    deep: list[str] = []
    for name, child in value.items():
        match child:
            case _ if is_flat(child):
                made[(name,)] = cell(child, free=True)
            case dict() if _all_flat(child.values()):
                made.update({(name, key): cell(inner, free=True) for key, inner in child.items()})
            case [dict() as only] if only and _all_flat(only.values()):
                made.update({(name, key): cell(inner, free=True) for key, inner in only.items()})
            case list() if _all_flat(child) and len(canonical(child)) <= _LIST:
                made[(name,)] = ",".join(cell(inner) for inner in child)
            case _:
                deep.append(name)
    return made, deep


def _all_flat(values: Any) -> bool:
    return all(is_flat(value) for value in values)


@dataclass(frozen=True, slots=True)
class Table:
    """A header, and a line of cells for each row."""

    header: str
    lines: tuple[str, ...]


def table_of(value: Sequence[Any]) -> Table | None:
    """The table of two or more objects with the same columns, or None."""
    if len(value) < 2 or not all(isinstance(child, dict) and child for child in value):
        return None
    grid = [cells_of(child) for child in value]
    names = list(grid[0][0])
    if any(deep or list(cells) != names for cells, deep in grid):
        return None
    lines = [list(cells.values()) for cells, _ in grid]
    return Table("|".join(grouped(names)), tuple(_joined(lines)))


def _joined(lines: list[list[str]]) -> Iterator[str]:
    for at, line in enumerate(lines):
        yield dittoed(line, lines[at - 1] if at else None)


def dittoed(line: Sequence[str], above: Sequence[str] | None) -> str:
    """A row of cells, those like the row above as ditto marks; none where a cell holds the separator itself."""
    if above is None or len(above) != len(line) or any("|" in part for part in (*line, *above)):
        return "|".join(line)
    return "|".join(
        DITTO if part == up and len(part) >= _WORTH_DITTO else part for part, up in zip(line, above, strict=True)
    )


def spelled_out(text: str, above: str) -> str:
    """A row with its ditto marks filled in from the row above it, itself spelled out; the row as it is when it has none."""
    parts, up = text.split("|"), above.split("|")
    if DITTO not in parts or len(parts) != len(up):
        return text
    return "|".join(there if part == DITTO else part for part, there in zip(parts, up, strict=True))


def grouped(names: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Column names with a shared parent written once: `prices(economy|business)`."""
    at = 0
    while at < len(names):
        path = names[at]
        end = at + 1
        if len(path) == 1:
            yield word(path[0])
        else:
            while end < len(names) and len(names[end]) > 1 and names[end][0] == path[0]:
                end += 1
            yield f"{word(path[0])}({'|'.join(word(name[1]) for name in names[at:end])})"
        at = end
