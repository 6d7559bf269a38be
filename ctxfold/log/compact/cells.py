"""Single JSON values as short words that read back unambiguously. It knows nothing of rows, records or the past."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from itertools import chain
from json.encoder import encode_basestring
from typing import Any

from ctxfold.log.compact.prose import CUT
from ctxfold.log.facts import canonical, canonical_key
from ctxfold.text.strict_json import strictly

__all__ = [
    "ABOVE",
    "DITTO",
    "Spelled",
    "Spelling",
    "all_flat",
    "bare",
    "cell",
    "cells_in",
    "is_flat",
    "listed",
    "pair",
    "parse",
    "quoted",
    "shallow",
    "word",
]


DITTO = "^"
"""Stands for the cell above, or the cell of the row whose columns are used."""
ABOVE = "above"
"""What the row is called whose columns another of the same record uses."""
_MARKS = frozenset((DITTO, CUT, f"{CUT}null"))
"""What says something of ours in a row, so that a value or a name spelled like it stands in quotes."""
_WORDS = _MARKS | {"null", "true", "false"}
"""What is no string where it stands without quotes."""
_BARE = re.compile(r"(?![<>])[^\s\"'=|()\[\]{},;]+")
_BREAKS = re.compile("[\u0085\u2028\u2029]")
_MAX_DEPTH = 200


_spell = json.JSONEncoder(ensure_ascii=False).encode
"""JSON as it is usually written; one encoder for all calls."""


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
    """The tree a text holds, when it is one JSON object or array that rows can show whole.

    Duplicate keys, NaN, and nesting beyond what a reader could follow stay text: None is returned and the text is shown as it is.
    """
    head = text[:64].lstrip()[:1]
    if head not in ("{", "["):
        return None
    tree = strictly(text, fraction=Spelled)
    return tree if tree is not None and shallow(text, tree) else None


def shallow(text: str, tree: Any) -> bool:
    """Whether a tree read from a text nests no deeper than a reader could follow."""
    return text.count("[") + text.count("{") <= _MAX_DEPTH or _depth_within(tree, _MAX_DEPTH)


def _depth_within(tree: Any, most: int) -> bool:
    level = [tree]
    for _ in range(most):
        level = [
            child
            for node in level
            if isinstance(node, (dict, list))
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return True
    return False


def bare(text: str, extra: str = "") -> bool:
    """Whether a string can stand without quotes between blanks, `=` and the given separators."""
    return _BARE.fullmatch(text) is not None and text not in _MARKS and not any(mark in text for mark in extra)


def quoted(text: str) -> str:
    """A string in quotes, as JSON, with nothing in it that any reader could take for the end of a line."""
    spelled = encode_basestring(text)
    return spelled if spelled.isascii() else _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", spelled)


def word(name: str) -> str:
    """A key as it stands in a row."""
    return name if bare(name) else quoted(name)


def cell(value: Any) -> str:
    """One scalar (or empty container) as it stands in a row: without a blank, or in quotes."""
    if isinstance(value, str):
        return value if value not in _WORDS and (value.isalnum() or _BARE.fullmatch(value)) else quoted(value)
    if isinstance(value, Spelled):
        return value.spelling
    if value is True or value is False:
        return "true" if value else "false"
    return str(value) if type(value) is int else _spell(value)


def cells_in(values: Collection[Any]) -> Collection[str]:
    """`cell` of each of some values."""
    kinds = set(map(type, values))
    if kinds == {Spelled}:
        return [value.spelling for value in values]
    if kinds == {str} and "" not in values and _WORDS.isdisjoint(values) and "".join(values).isalnum():
        return values
    return list(map(cell, values))


def listed(values: Iterable[Any]) -> str:
    """Scalars in brackets, a blank between them."""
    return f"[{' '.join(map(cell, values))}]"


def pair(name: str, value: Any) -> str:
    """`name=value`."""
    return f"{word(name)}={cell(value)}"


def is_flat(value: Any) -> bool:
    """Whether a value is a scalar or an empty container: something one cell can hold."""
    return not isinstance(value, (dict, list)) or not value


def all_flat(values: Collection[Any]) -> bool:
    """Whether one cell can hold each of some values."""
    return _NESTED.isdisjoint(map(type, values)) or not any(value for value in values if type(value) in _NESTED)


_NESTED = frozenset((dict, list))
"""What JSON holds values in."""


class Spelling:
    """Canonical forms and content keys of the nodes of a value, which must outlive it: a node is known by its identity."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[str, int]] = {}

    def __call__(self, value: Any) -> tuple[str, int]:
        """The canonical form of a node and its content key."""
        return self._made.get(id(value)) or self._make(value)

    def _make(self, value: Any) -> tuple[str, int]:
        text = self._composed(value)
        made = self._made[id(value)] = (text, canonical_key(text))
        return made

    def _composed(self, value: Any) -> str:
        """The form of a node from those of the nodes inside it."""
        if isinstance(value, dict):
            if all_flat(value.values()):
                return canonical(value)
            return f"{{{','.join([f'{canonical(name)}:{self._inside(value[name])}' for name in sorted(value)])}}}"
        if isinstance(value, list) and not all_flat(value):
            return f"[{','.join(self._each(value))}]"
        return canonical(value)

    def _each(self, value: list[Any]) -> Iterable[str]:
        """The forms of what a list holds. Flat records are what results hold most of: they are told at one look."""
        if set(map(type, value)) == {dict} and all_flat(list(chain.from_iterable(map(dict.values, value)))):
            texts = list(map(canonical, value))
            self._made.update(zip(map(id, value), zip(texts, map(canonical_key, texts), strict=True), strict=True))
            return texts
        return map(self._inside, value)

    def _inside(self, value: Any) -> str:
        return canonical(value) if is_flat(value) else self(value)[0]
