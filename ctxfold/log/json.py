"""JSON as numbered lines and as rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any, Literal

from ctxfold.text.json import parse_strictly

_MAX_DEPTH = 200

canonical: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""JSON in its one canonical spelling: keys sorted, no blank."""


class Spelled(float):
    """A number that remembers how it was written, so that `10.0` and `1e3` stay as they were."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> Spelled:
        """The number of a spelling."""
        number = float.__new__(cls, spelling)
        number.spelling = spelling
        return number


def parse(text: str) -> Any | None:
    """The tree of a text that is one JSON object or array.

    Duplicate keys, NaN, and nesting that no reader could follow give None: such a text is shown as it is.
    """
    if text[:64].lstrip()[:1] not in ("{", "["):
        return None
    tree = parse_strictly(text, fraction=Spelled)
    return tree if tree is not None and _is_shallow(tree) else None


_PYTHON = (("None", "null"), ("True", "true"), ("False", "false"))


def tree_of(text: str) -> Any | None:
    """The tree of a text that is one JSON object or list, or one as Python prints it where only its quotes differ."""
    tree = parse(text)
    if tree is not None or text[:2] not in ("[{", "{'") or '"' in text or "\\" in text:
        return tree
    spelled = text.replace("'", '"')
    for python, json_name in _PYTHON:
        spelled = spelled.replace(f": {python}", f": {json_name}")
    return parse(spelled)


_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def spell(value: Any) -> str:
    """A scalar as JSON spells it; what any reader could take for the end of a line is escaped."""
    if isinstance(value, Spelled):
        return value.spelling
    if isinstance(value, str):
        return encode_basestring(value).translate(_LINE_ENDS)
    return json.dumps(value, ensure_ascii=False)


def is_flat(value: Any) -> bool:
    """Whether a value is a scalar or an empty container."""
    return not isinstance(value, (dict, list)) or not value


def _is_shallow(tree: Any, depth: int = _MAX_DEPTH) -> bool:
    """Whether an object or list has at most so many levels."""
    children = tree.values() if isinstance(tree, dict) else tree
    inner = (child for child in children if isinstance(child, (dict, list)))
    return depth > 0 and all(_is_shallow(child, depth - 1) for child in inner)


_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|\[[ \t\n\r]*+\]|\{[ \t\n\r]*+\}|[\[\]{}:,]|[^ \t\n\r\[\]{}:,"]++')
"""A string, an empty list or object, a mark, or a number or name."""

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


def indent_json(text: str) -> list[str]:
    """The lines of a JSON object or list: one value a line, one blank deeper in each level, each token as it is
    spelled.
    """
    deep, parts = 0, list[str]()
    for token in _TOKEN.findall(text):
        deep += (token in ("{", "[")) - (token in ("}", "]"))
        line_end = "\n" + " " * deep
        if token == ":":
            parts.append(": ")
        elif token in (",", "{", "["):
            parts.append(token + line_end)
        elif token in ("}", "]"):
            parts.append(line_end + token)
        else:
            parts.append(_show_token(token))
    return "".join(parts).split("\n")


def _show_token(token: str) -> str:
    """A value's token as a line shows it: in a string, letters in place of their escapes if they can be seen and are
    not ASCII; an empty list or object without its white space.
    """
    if token[0] == '"':
        return _ESCAPE.sub(_show_letter, token)
    return token[0] + token[-1] if token[0] in "{[" else token


def _show_letter(escape: re.Match[str]) -> str:
    """A letter that can be seen in place of its escape; any other escape as it is."""
    if escape[0][1] != "u":
        return escape[0]
    letter: str = json.loads(f'"{escape[0]}"')
    return letter if not letter.isascii() and letter.isprintable() else escape[0]


def line_form(text: str) -> list[str]:
    """The lines that a range counts: a text's own lines; for JSON one value a line, numbers as spelled, letters as
    themselves.
    """
    return indent_json(text) if parse(text) is not None else text.removesuffix("\n").split("\n")


Table = Literal["none", "columns", "cells"]

_BARE = re.compile(r"(?![<>])[^\s\"'{}\[\],:=|…][^\"{}\[\],=|\s…]*(?: [^\"{}\[\],=|\s…]+)*")
_NAME = re.compile(r"[^\s\"'{}\[\],:=|…<>]+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_CONSTANTS = frozenset(("null", "true", "false"))
_SMALL = 60
"""Characters of the longest container inside a cell."""
_SHARED = 0.5
"""The share of cells that must be filled for objects to be written as a table."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        depth: how deep it is under the first.
        head: its beginning: its name, and how many items a list holds.
        cells: its parts, `name=value` or, in a table, names or values.
        table: whether it holds the columns of a table, or cells under them.
    """

    depth: int
    head: str
    cells: tuple[str, ...]
    table: Table = "none"

    @property
    def text(self) -> str:
        """The row without its indent."""
        return self.head + (", " if self.table == "none" else " | ").join(self.cells)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where in the text the first cell begins, and where each ends."""
        seam = 2 if self.table == "none" else 3
        ends = accumulate((len(cell) + seam for cell in self.cells), initial=len(self.head))
        return (len(self.head), *(end - seam for end in ends if end > len(self.head)))


def word(name: str) -> str:
    """A name as a row shows it."""
    return name if _NAME.fullmatch(name) and not _NUMBER.fullmatch(name) else spell(name)


def inline(value: Any) -> str:
    """A value as a cell shows it."""
    if isinstance(value, dict) and value:
        return "{" + ", ".join(f"{word(name)}={inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str) and value not in _CONSTANTS and _BARE.fullmatch(value) and not _NUMBER.fullmatch(value):
        return value
    return spell(value)


def rows_of(tree: Any, head: str = "", depth: int = 0) -> Iterator[Row]:
    """The rows of a value, from the outside in: an object gives one row of its small values, then the rows of its
    containers.
    """
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
    """A container under a name; an object of alike objects is a table with their names in the first column."""
    if isinstance(value, dict) and all(isinstance(row, dict) and row for row in value.values()):
        columns = _columns(list(value.values()), least=1)
        if columns:
            rows = value.items()
            same = next((column for column in columns if all(row.get(column) == key for key, row in rows)), None)
            columns = [column for column in columns if column != same]
            first = "key" if same is None else f"key={word(same)}"
            yield Row(depth, f"{word(name)}: [{len(value)}] ", (first, *map(word, columns)), "columns")
            for key, row in rows:
                yield Row(depth + 1, "", (inline(key), *_cells(row, columns)), "cells")
            return
    yield from rows_of(value, f"{word(name)}: ", depth)


def _list(tree: Sequence[Any], head: str, depth: int) -> Iterator[Row]:
    """The rows of a list: a table for alike objects, one row for scalars, else each item by itself."""
    columns = _columns(tree, least=2)
    if columns:
        yield Row(depth, f"{head}[{len(tree)}] ", tuple(map(word, columns)), "columns")
        for row in tree:
            yield Row(depth + 1, "", tuple(_cells(row, columns)), "cells")
    elif all(map(is_flat, tree)):
        yield Row(depth, f"{head}[{len(tree)}] ", tuple(map(inline, tree)))
    else:
        yield Row(depth, f"{head}[{len(tree)}]", ())
        for row in tree:
            yield from rows_of(row, "- ", depth + 1)


def _is_small(value: Any) -> bool:
    """Whether a value fits into a cell: a scalar, or a short container of scalars."""
    if is_flat(value):
        return True
    inside: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return all(map(is_flat, inside)) and len(inline(value)) <= _SMALL


def _columns(tree: Sequence[Any], least: int) -> list[str]:
    """The names that alike objects share; none where they are not alike."""
    if len(tree) < least or not all(isinstance(row, dict) and row for row in tree):
        return []
    names: dict[str, int] = {}
    for row in tree:
        for name, value in row.items():
            if not _is_small(value):
                return []
            names[name] = names.get(name, 0) + 1
    return list(names) if sum(names.values()) >= _SHARED * len(names) * len(tree) else []


def _cells(row: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """The values of an object in the order of some columns; an empty cell for a missing one."""
    return [inline(row[name]) if name in row else "" for name in columns]
