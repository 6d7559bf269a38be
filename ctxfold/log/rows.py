"""Writes a JSON tree as rows, with lists of alike objects as tables, so that the JSON can be told exactly from them.

A string stands without quotes where it can't be taken for anything else; numbers, `true`, `false`, `null`, `{}` and `[]` stand as JSON spells them.
Alike objects stand as a table: a row of column names, then one of cells for each object; an empty cell is a name that the object lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from ctxfold.log.json_tree import is_flat, spell

__all__ = ["Row", "Table", "inline", "rows_of", "word"]

Table = Literal["none", "columns", "cells"]

_BARE = re.compile(r"(?![<>])[^\s\"'{}\[\],:=|…][^\"{}\[\],=|\s…]*(?: [^\"{}\[\],=|\s…]+)*")
_NAME = re.compile(r"[^\s\"'{}\[\],:=|…<>]+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_CONSTANTS = frozenset(("null", "true", "false"))
_SMALL = 60
"""Characters of a container that stands inside a cell."""
_SHARED = 0.5
"""The share of a table's cells that must be filled for alike objects to stand as one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        depth: how deep it stands under the first.
        head: what it begins with: the name it stands under, and how many a list holds.
        cells: its parts, `name=value` or, in a table, names or values.
        table: whether it holds the columns of a table, or cells under them.
    """

    depth: int
    head: str
    cells: tuple[str, ...]
    table: Table = "none"

    @property
    def text(self) -> str:
        """The row as it stands, without its indent."""
        return self.head + (", " if self.table == "none" else " | ").join(self.cells)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where in the text the first cell begins, and where each ends."""
        seam = 2 if self.table == "none" else 3
        ends = accumulate((len(cell) + seam for cell in self.cells), initial=len(self.head))
        return (len(self.head), *(end - seam for end in ends if end > len(self.head)))


def word(name: str) -> str:
    """A name as it stands in a row."""
    return name if _NAME.fullmatch(name) and not _NUMBER.fullmatch(name) else spell(name)


def inline(value: Any) -> str:
    """A value as it stands inside a cell."""
    if isinstance(value, dict) and value:
        return "{" + ", ".join(f"{word(name)}={inline(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str) and value not in _CONSTANTS and _BARE.fullmatch(value) and not _NUMBER.fullmatch(value):
        return value
    return spell(value)


def rows_of(tree: Any) -> list[Row]:
    """The rows of a tree, from the outside in."""
    return list(_rows(tree, "", 0))


def _rows(tree: Any, head: str, depth: int) -> Iterator[Row]:
    if is_flat(tree):
        yield Row(depth, head, (inline(tree),))
    elif isinstance(tree, dict):
        small = {name: value for name, value in tree.items() if _is_small(value)}
        if head or small:
            yield Row(depth, head, tuple(f"{word(name)}={inline(value)}" for name, value in small.items()))
        inner = depth + bool(head or small)
        for name, value in tree.items():
            if name not in small:
                yield from _inner(value, name, inner)
    else:
        yield from _list(tree, head, depth)


def _inner(value: Any, name: str, depth: int) -> Iterator[Row]:
    """A container under a name; an object of alike objects is a table whose first column holds their names."""
    if isinstance(value, dict) and all(isinstance(each, dict) and each for each in value.values()):
        columns = _columns(list(value.values()), least=1)
        if columns:
            same = next((one for one in columns if all(each.get(one) == key for key, each in value.items())), None)
            columns = [one for one in columns if one != same]
            first = "key" if same is None else f"key={word(same)}"
            yield Row(depth, f"{word(name)}: [{len(value)}] ", (first, *map(word, columns)), "columns")
            for key, each in value.items():
                yield Row(depth + 1, "", (inline(key), *_cells(each, columns)), "cells")
            return
    yield from _rows(value, f"{word(name)}: ", depth)


def _list(tree: Sequence[Any], head: str, depth: int) -> Iterator[Row]:
    columns = _columns(tree, least=2)
    if columns:
        yield Row(depth, f"{head}[{len(tree)}] ", tuple(map(word, columns)), "columns")
        for each in tree:
            yield Row(depth + 1, "", tuple(_cells(each, columns)), "cells")
    elif all(map(is_flat, tree)):
        yield Row(depth, f"{head}[{len(tree)}] ", tuple(map(inline, tree)))
    else:
        yield Row(depth, f"{head}[{len(tree)}]", ())
        for each in tree:
            yield from _rows(each, "- ", depth + 1)


def _is_small(value: Any) -> bool:
    if is_flat(value):
        return True
    inside: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return all(map(is_flat, inside)) and len(inline(value)) <= _SMALL


def _columns(tree: Sequence[Any], least: int) -> list[str]:
    """The names that alike objects share; none where they are not alike."""
    if len(tree) < least or not all(isinstance(each, dict) and each for each in tree):
        return []
    names: dict[str, int] = {}
    for each in tree:
        for name, value in each.items():
            if not _is_small(value):
                return []
            names[name] = names.get(name, 0) + 1
    return list(names) if sum(names.values()) >= _SHARED * len(names) * len(tree) else []


def _cells(each: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    return [inline(each[name]) if name in each else "" for name in columns]
