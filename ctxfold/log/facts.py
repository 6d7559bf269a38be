"""The ledger: which facts stand where along a path. Keys are taken from structure, never from the wording of one data set.

A fact is a JSON subtree. Its *content key* says "this very value stood there"; an object that names itself also has an *identity key*,
under which its newest version is found. The record holds the values; the ledger says where the newest stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Protocol

__all__ = [
    "Known",
    "Ledger",
    "canonical",
    "canonical_key",
    "content_key",
    "header_key",
    "identity",
    "identity_key",
    "named_key",
    "objects",
    "shape_key",
    "text_key",
]

JSON = Any
"""A value as `json.loads` gives it."""

_NAMED = (
    re.compile(r"(?:^|[_\-. ])u?u?id$|[a-z]Id$", re.IGNORECASE),
    re.compile(r"(?:^|[_\-. ])(?:key|code|slug|ref|sku|number|no|handle)$", re.IGNORECASE),
    re.compile(r"(?:^|[_\-. ])(?:name|title|path|url|email)$", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Known:
    """Where an earlier version of a fact stands in the view: the record's address and, read when asked for, its value then."""

    ref: str
    read: Callable[[], JSON]

    @property
    def value(self) -> JSON:
        """The object or list that settled the key; None for a text's own key."""
        return self.read()


class Ledger(Protocol):
    """What compacting asks of the past: only facts that still stand in the view are known."""

    def find(self, key: int) -> Known | None:
        """The newest place on the path where this key's value stands in the view."""

    def says(self, word: str) -> bool:
        """Whether a word stands somewhere in the view already."""


def _encoder() -> Callable[[JSON], str]:
    """The encoder of `canonical`. The library builds its quick one anew for every call of `encode`; here it is built once, where it has one."""
    plain = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    quick = make(None, plain.default, json.encoder.encode_basestring, None, ":", ",", True, False, True)
    return lambda value: "".join(quick(value, 0))


canonical = _encoder()
"""The one spelling of a JSON value: sorted keys, no blanks."""


def _space(name: bytes) -> Callable[[str], int]:
    """Keys of one kind: 63 bits of a hash that no other kind shares."""
    begun = blake2b(digest_size=8, person=name).copy
    number = int.from_bytes

    def key(words: str) -> int:
        made = begun()
        made.update(words.encode() if words.isascii() else words.encode("utf-8", "surrogatepass"))
        return number(made.digest(), "big") >> 1

    return key


_shape, _header, _identity = map(_space, (b"shape", b"header", b"identity"))
canonical_key = _space(b"content")
"""The content key of a value whose canonical form is at hand."""
text_key = _space(b"text")
"""The key of a whole text. 63 bits."""


def content_key(value: JSON) -> int:
    """The key of a value itself: equal for equal JSON, whatever its key order. 63 bits."""
    return canonical_key(canonical(value))


def shape_key(columns: Iterable[tuple[str, ...]]) -> int:
    """The key of an object's columns in their order. 63 bits."""
    return _shape("\0".join("\1".join(path) for path in columns))


def header_key(path: str, header: str) -> int:
    """The key of a table's header at a path. 63 bits."""
    return _header(f"{path}\0{header}")


def identity(value: JSON) -> tuple[str, str] | None:
    """The field by which an object names itself, and its value.

    The strongest kind of name wins (an id before a code before a title), the first field of that kind within it.
    """
    if not isinstance(value, dict):
        return None
    for name in _naming(tuple(value)):
        words = _name(value[name])
        if words:
            return name, words
    return None


@lru_cache(maxsize=4096)
def _naming(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Of an object's fields those that may name it, the surest first, in their order where they are as sure."""
    return tuple(sorted((name for name in fields if _strength(name) < len(_NAMED)), key=_strength))


def _name(cell: JSON) -> str:
    """The words of a cell that may name what holds it, else nothing."""
    if not isinstance(cell, str):
        if not isinstance(cell, int) or isinstance(cell, bool):
            return ""
        cell = str(cell)
    return cell if len(cell) <= _LONGEST_NAME else ""


_LONGEST_NAME = 80
"""Characters of a text from which it tells more than a name."""


@lru_cache(maxsize=4096)
def _strength(field: str) -> int:
    """How surely a field names its object: 0 an id, 1 a code, 2 a title, 3 not at all."""
    return next((rank for rank, pattern in enumerate(_NAMED) if pattern.search(field)), len(_NAMED))


def identity_key(value: JSON, path: str = "") -> int | None:
    """The key under which the newest version of an object is found; None when it does not name itself.

    Args:
        value: any JSON value.
        path: where it stands, for objects that only a title names; an id is taken to be one thing wherever it stands.
    """
    named = identity(value)
    return None if named is None else named_key(named, value, path)


def named_key(named: tuple[str, str], value: JSON, path: str) -> int:
    """The same, where the object's identity is at hand."""
    field, name = named
    strong = _strength(field) == 0
    shape = "" if strong else path + "|" + ",".join(sorted(value))
    return _identity(f"{field}\0{name}\0{shape}")


def objects(value: JSON, path: str = "") -> Iterator[tuple[str, JSON]]:
    """Every object and list inside a JSON value with its dotted path, outermost first, without recursion."""
    stack: list[tuple[str, JSON]] = [(path, value)]
    while stack:
        where, node = stack.pop()
        match node:
            case dict():
                yield where, node
                stack.extend(
                    (f"{where}.{name}" if where else str(name), child) for name, child in reversed(node.items())
                )
            case list():
                yield where, node
                stack.extend((where, child) for child in reversed(node))
            case _:
                pass
