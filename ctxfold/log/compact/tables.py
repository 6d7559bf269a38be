"""Columns and tables: the cells of an object by path, lists of alike objects as rows. Which cell is a ditto mark `compact.ditto` knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ctxfold.log.compact.cells import all_flat, cell, cells_in, is_flat, listed, pair, word
from ctxfold.log.compact.ditto import dittoed

__all__ = [
    "Cells",
    "Group",
    "Path",
    "Reader",
    "Table",
    "bracketed",
    "cells_of",
    "columns_of",
    "group_of",
    "grouped",
    "in_groups",
    "is_empty",
    "table_of",
]

_FLAT = 180
"""Characters of an object's cells up to which it stands in the row of what holds it."""
_LIST = 320
"""Characters of a list up to which it stands in the row of what holds it."""
Path = tuple[str, ...]
"""The names that lead to a cell."""
Alike = Callable[[Sequence[Any]], Iterable[list[str]]]
"""Tells the cells of the records that a list begins with, for as long as they are alike."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of an object, nested objects and short lists of records included.

    Attributes:
        texts: each cell by path, as it stands in a row.
        groups: the columns of the cells that hold a list of records.
        deep: the names of what fits no cell.
    """

    texts: dict[Path, str] = field(default_factory=dict)
    groups: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    deep: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)

    def under(self, header: Cells) -> bool:
        """Whether these cells can be read under the header of others: the same columns, and those of every list of records."""
        return list(self.texts) == list(header.texts) and all(
            header.groups.get(path) == columns for path, columns in self.groups.items()
        )


def cells_of(value: dict[str, Any], alike: Alike | None = None) -> Cells:
    """The cells of an object.

    Args:
        value: a JSON object.
        alike: who reads lists of records; None reads them anew.
    """
    made = Cells()
    for name, child in value.items():
        if is_flat(child):
            made.texts[(name,)] = cell(child)
        elif isinstance(child, dict):
            flat = child if all_flat(child.values()) else {}
            inner: dict[Path, str] = {(name, key): cell(each) for key, each in flat.items()}
            if inner and sum(len(path[1]) + len(text) for path, text in inner.items()) <= _FLAT:
                made.texts.update(inner)
            else:
                made.deep.append(name)
        elif all_flat(child):
            text = listed(child)
            if len(text) <= _LIST:
                made.texts[(name,)] = text
            else:
                made.deep.append(name)
        elif (group := group_of(child, alike)) is not None:
            made.texts[(name,)] = f"[{'; '.join(group.lines)}]"
            made.groups[(name,)] = group.columns
        else:
            made.deep.append(name)
    return made


@dataclass(frozen=True, slots=True)
class Table:
    """A header, and a line of cells for each row.

    Attributes:
        header: the columns.
        lines: the rows, cells like those above as ditto marks.
        columns: the names of the columns, where records are in a cell.
        whole: the rows with every cell spelled out, where it stands on lines of its own.
    """

    header: str
    lines: tuple[str, ...]
    columns: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


def group_of(value: list[Any], alike: Alike | None = None) -> Table | None:
    """The table of a list of flat records with the same columns, short enough to stand in a cell; or None."""
    lines: list[str] = []
    size, above = 0, None
    for line in (alike or _alike)(value):
        lines.append(dittoed(line, above))
        size, above = size + len(lines[-1]), line
        if size > _LIST:
            return None
    if len(lines) < len(value):
        return None
    columns = tuple(value[0])
    return Table(" ".join(map(word, columns)), tuple(lines), columns)


def _alike(value: Sequence[Any]) -> Iterator[list[str]]:
    """The cells of flat records one after the other, for as long as each has the columns of the first. A list of scalars is one cell."""
    columns: list[str] | None = None
    for child in value:
        if not isinstance(child, dict) or not child:
            return
        columns = columns or list(child)
        if list(child) != columns or not all(map(_is_cell, child.values())):
            return
        yield [listed(each) if isinstance(each, list) and each else cell(each) for each in child.values()]


def _is_cell(value: Any) -> bool:
    return is_flat(value) or (isinstance(value, list) and all_flat(value))


class Reader:
    """Reads the cells of lists of flat records, each list once however often it is asked for."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Sequence[Any], list[list[str]]]] = {}

    def __call__(self, value: Sequence[Any]) -> list[list[str]]:
        """The cells of the records that a list begins with, for as long as each is flat and has the columns of the first."""
        known = self._read.get(id(value))
        if known is None:
            known = self._read[id(value)] = (value, _by_columns(value) or list(_alike(value)))
        return known[1]


def _by_columns(value: Sequence[Any]) -> list[list[str]]:
    """The cells of flat records that all have the same columns, column by column: most often a column's values are of one kind. Else nothing."""
    if set(map(type, value)) != {dict} or not value[0]:
        return []
    names = list(map(list, value))
    if names.count(names[0]) < len(names):
        return []
    columns = list(zip(*map(dict.values, value), strict=True))
    return list(map(list, zip(*map(cells_in, columns), strict=True))) if all(map(all_flat, columns)) else []


def table_of(value: Sequence[Any], alike: Alike | None = None) -> Table | None:
    """The table of two or more objects with the same columns, or None."""
    if len(value) < 2 or not all(isinstance(child, dict) and child for child in value):
        return None
    flat = list((alike or _alike)(value))
    if len(flat) == len(value):
        return _table(" ".join(map(word, value[0])), flat)
    grid = [cells_of(child) for child in value]
    groups: dict[Path, tuple[str, ...]] = {}
    for cells in grid:
        groups.update(cells.groups)
    whole = Cells(grid[0].texts, groups)
    if any(cells.deep for cells in grid):
        return None
    if all(cells.under(whole) for cells in grid):
        return _table(" ".join(grouped(whole)), [list(cells.texts.values()) for cells in grid])
    return _ragged(value, grid)


def _ragged(value: Sequence[dict[str, Any]], grid: Sequence[Cells]) -> Table | None:
    """The table of objects with the same names, whose nested objects and lists of records have columns of their own: a cell of these says its names."""
    names = list(value[0])
    if any(list(child) != names for child in value):
        return None
    rows = [[_cell_of(name, child[name], cells) for name in names] for child, cells in zip(value, grid, strict=True)]
    return _table(" ".join(map(word, names)), rows)


def _cell_of(name: str, child: Any, cells: Cells) -> str:
    """A value in one cell, whatever it holds; what is nested in it with its names, an object in parentheses and a list of records in brackets."""
    if isinstance(child, dict) and child:
        return f"({_pairs(child)})"
    return bracketed(child) if (name,) in cells.groups else cells.texts[(name,)]


def _table(header: str, rows: Sequence[list[str]]) -> Table:
    above = (None, *rows)
    return Table(header, tuple(map(dittoed, rows, above)), whole=tuple(map(" ".join, rows)))


def grouped(cells: Cells) -> Iterator[str]:
    """Column names with a shared parent written once: `prices(economy business)`, of a list of records `flights[number date]`."""
    names = list(cells.texts)
    at = 0
    while at < len(names):
        path = names[at]
        end = at + 1
        if path in cells.groups:
            yield f"{word(path[0])}[{' '.join(map(word, cells.groups[path]))}]"
        elif len(path) == 1:
            yield word(path[0])
        else:
            while end < len(names) and len(names[end]) > 1 and names[end][0] == path[0]:
                end += 1
            yield f"{word(path[0])}({' '.join(word(name[1]) for name in names[at:end])})"
        at = end


def columns_of(value: dict[str, Any], cells: Cells) -> tuple[Path, ...]:
    """The paths of the cells that an object's own row names: those that hold something."""
    return tuple(path for path in cells.texts if not is_empty(value[path[0]]))


def is_empty(value: Any) -> bool:
    """Whether a value says nothing: null, an empty list, an empty object."""
    return value is None or value == [] or value == {}


def bracketed(value: list[dict[str, Any]]) -> str:
    """Records in brackets: one with its names, several under their columns."""
    if len(value) == 1:
        return f"[{_pairs(value[0])}]"
    group = group_of(value)
    return "" if group is None else f"[{group.header}: {'; '.join(group.lines)}]"


def _pairs(record: dict[str, Any]) -> str:
    return " ".join(_told(name, child) for name, child in record.items())


def _told(name: str, value: Any) -> str:
    return f"{word(name)}={listed(value)}" if isinstance(value, list) and value else pair(name, value)


class Group(NamedTuple):
    """Records of like columns that an object holds under their names.

    Attributes:
        records: the records by name.
        table: their table, the name its first column; None for a flat record alone.
    """

    records: dict[str, Any]
    table: Table | None


def in_groups(value: Any) -> list[Group]:
    """An object of records, in groups of like columns; none when it is not one, or nothing in it is alike."""
    if not isinstance(value, dict) or len(value) < 2 or not all(map(_record, value.values())):
        return []
    alike: dict[tuple[str, ...], dict[str, Any]] = {}
    for name, child in value.items():
        alike.setdefault(tuple(key for key, cell in child.items() if cell != name), {})[name] = child
    if len(alike) == len(value):
        return []
    groups = [Group(records, _named_table(records)) for records in alike.values()]
    return groups if all(map(_told_in_rows, groups)) else []


def _named_table(records: dict[str, Any]) -> Table | None:
    """The table of records under their names; a cell that only repeats the name is left out."""
    return table_of(
        [{"": name, **{key: cell for key, cell in each.items() if cell != name}} for name, each in records.items()]
    )


def _told_in_rows(group: Group) -> bool:
    """Whether records stand in rows: flat ones always, others where a table holds them."""
    return group.table is not None or all(all_flat(record.values()) for record in group.records.values())


def _record(value: Any) -> bool:
    """Whether a value is a record that can stand in a row under its name: the column of the name has none itself."""
    return isinstance(value, dict) and bool(value) and "" not in value
