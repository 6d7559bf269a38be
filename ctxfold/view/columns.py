"""Reads a result that a program wrote for programs: its rows, the paths of a tree of named things, and the ids of its largest table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ctxfold.log.json_tree import is_flat, parse
from ctxfold.log.rows import Row, inline
from ctxfold.view.outline import Unit

__all__ = ["ids_in", "ids_of", "largest_table", "paths_of", "summary_of", "tree_of", "units_of_rows"]

_LONGEST_ID = 48
_LEAST = 4
"""Rows from which a table is one."""
_CONSTANTS = (("None", "null"), ("True", "true"), ("False", "false"))
_WIDE = 400
_FEW = 6
"""Different values of a column that are counted one by one."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def tree_of(text: str) -> Any | None:
    """The tree of a text that is one JSON object or list, or one as Python prints it where that differs by its quotes alone."""
    tree = parse(text)
    if tree is not None or text[:2] not in ("[{", "{'") or '"' in text or "\\" in text:
        return tree
    spelled = text.replace("'", '"')
    for python, json in _CONSTANTS:
        spelled = spelled.replace(f": {python}", f": {json}")
    return parse(spelled)


def units_of_rows(rows: Sequence[Row]) -> list[Unit]:
    """Rows as units; rows of one table are alike, and others that name the same things. A row of very many cells is several units."""
    found = []
    for at, row in enumerate(rows):
        indent = "  " * row.depth
        if row.table != "none" or len(row.text) <= _WIDE:
            shape = row.table if row.table != "none" else ",".join(cell.partition("=")[0] for cell in row.cells[:8])
            found.append(Unit(_cut(indent + row.text), at, at, row.depth, f"{row.depth} {shape}"))
            continue
        held = indent + row.head
        for cell in row.cells:
            if len(held) + len(cell) + 2 > _WIDE and held.strip():
                found.append(Unit(_cut(held), at, at, row.depth, f"{row.depth} wide"))
                held = indent + "  "
            held += f"{cell}, "
        found.append(Unit(_cut(held), at, at, row.depth, f"{row.depth} wide"))
    return found


def _cut(text: str) -> str:
    return text.rstrip() if len(text) <= _WIDE else f"{text[:_WIDE]}…"


def largest_table(rows: Sequence[Row]) -> range | None:
    """The places of the cells of the largest table, where it makes up most of the rows."""
    heads = [at for at, row in enumerate(rows) if row.table == "columns"]
    tables = []
    for head in heads:
        end = head + 1
        while end < len(rows) and rows[end].table == "cells":
            end += 1
        tables.append(range(head + 1, end))
    largest = max(tables, key=len, default=range(0))
    return largest if len(largest) >= max(_LEAST, len(rows) // 2) else None


def ids_of(rows: Sequence[Row], table: range) -> tuple[str, list[str]] | None:
    """The name and the cells of the first column of a table that tells its rows apart; None where there is none."""
    names = rows[table[0] - 1].cells
    for column, name in enumerate(names):
        cells = [rows[at].cells[column] for at in table if column < len(rows[at].cells)]
        apart = len(cells) == len(table) == len(set(cells))
        if apart and all(0 < len(cell) <= _LONGEST_ID for cell in cells):
            return name, cells
    return None


def ids_in(tree: Any) -> tuple[str, list[str]] | None:
    """What the longest list of objects in a tree is called, with the name that tells its objects apart, and that of each; None where nothing does."""
    name, longest = max(_lists(tree, ""), key=lambda each: len(each[1]), default=("", []))
    if len(longest) < _LEAST:
        return None
    for key in longest[0]:
        cells = [inline(each[key]) for each in longest if is_flat(each.get(key, []))]
        if len(cells) == len(set(cells)) == len(longest) and all(0 < len(cell) <= _LONGEST_ID for cell in cells):
            return f"{name}.{key}" if name else key, cells
    return None


def _lists(tree: Any, name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each list of objects that does not stand in another, with the names that lead to it."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _lists(value, f"{name}.{key}" if name else key)
    elif isinstance(tree, list) and tree and all(isinstance(each, dict) for each in tree):
        yield name, tree


def summary_of(rows: Sequence[Row], table: range) -> str:
    """What the columns of a table hold: how often each of a few values, and from which number to which."""
    told = []
    for column, name in enumerate(rows[table[0] - 1].cells):
        cells = Counter(rows[at].cells[column] for at in table if column < len(rows[at].cells))
        if len(cells) <= _FEW < len(table) and all(len(cell) <= _LONGEST_ID for cell in cells):
            told.append(f"{name}: " + ", ".join(f"{cell} {times}" for cell, times in cells.most_common()))
        elif all(_NUMBER.fullmatch(cell) for cell in cells):
            told.append(f"{name}: {min(cells, key=float)} to {max(cells, key=float)}")
    return "; ".join(told)


def paths_of(tree: Any) -> list[str]:
    """The paths of a tree of named things that hold lists of the like, such as folders with their files; none where it is no such tree."""
    top = tree if isinstance(tree, list) else [tree]
    keys = _naming(top)
    if keys is None:
        return []
    return list(_paths(top, "", *keys))


def _naming(nodes: Sequence[Any]) -> tuple[str, str] | None:
    """Under which key a node has its name, and under which its children."""
    for node in nodes:
        if not isinstance(node, dict):
            return None
        name = next((key for key, value in node.items() if isinstance(value, str)), None)
        for key, value in node.items():
            if name is not None and isinstance(value, list) and value and _are_named(value, name):
                return name, key
    return None


def _are_named(nodes: Sequence[Any], name: str) -> bool:
    return all(isinstance(node, dict) and isinstance(node.get(name), str) and len(node) <= _LEAST for node in nodes)


def _paths(nodes: Sequence[Any], above: str, name: str, below: str) -> Iterator[str]:
    for node in nodes:
        if not isinstance(node, dict) or not isinstance(node.get(name), str):
            continue
        path = f"{above}{node[name]}"
        children = node.get(below)
        if isinstance(children, list):
            yield f"{path}/"
            yield from _paths(children, f"{path}/", name, below)
        else:
            yield path
