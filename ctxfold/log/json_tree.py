"""Reads JSON as a tree in which numbers keep their spelling."""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from ctxfold.text.strict_json import strictly

__all__ = ["Spelled", "canonical", "is_flat", "parse", "spell"]

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

    Duplicate keys, NaN, and nesting beyond what a reader could follow give None: such a text is shown as it is.
    """
    if text[:64].lstrip()[:1] not in ("{", "["):
        return None
    tree = strictly(text, fraction=Spelled)
    return tree if tree is not None and _is_shallow(text, tree) else None


def spell(value: Any) -> str:
    """A scalar as JSON spells it; what any reader could take for the end of a line is escaped."""
    if isinstance(value, Spelled):
        return value.spelling
    if isinstance(value, str):
        return (
            encode_basestring(value)
            .replace("\x85", "\\u0085")
            .replace("\u2028", "\\u2028")
            .replace("\u2029", "\\u2029")
        )
    return json.dumps(value, ensure_ascii=False)


def is_flat(value: Any) -> bool:
    """Whether a value is a scalar or an empty container."""
    return not isinstance(value, (dict, list)) or not value


def _is_shallow(text: str, tree: Any) -> bool:
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return True
    level = [tree]
    for _ in range(_MAX_DEPTH):
        nodes = (node for node in level if isinstance(node, (dict, list)))
        level = [child for node in nodes for child in (node.values() if isinstance(node, dict) else node)]
        if not level:
            return True
    return False
