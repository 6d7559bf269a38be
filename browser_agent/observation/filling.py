"""A JSON schema filled from what a page labels: an object from single values, a list from the rows that fit it best. Pure; what is not found is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from browser_agent.observation.inline import COMMON, terms
from browser_agent.observation.labelled import NOTHING, Labelled, coerced, groups, labelled
from browser_agent.observation.snapshot import Node

__all__ = ["Filled", "fill"]

_NAMES = frozenset({"name", "title", "heading"})
_ADDRESSES = frozenset({"url", "link", "href", "address"})
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Filled:
    """What a page gave for a schema.

    Attributes:
        value: the object or list, as far as it was found; `NOTHING` where nothing was.
        missing: the places that must be there and were not found, as paths.
        found: how many values were found.
    """

    value: object
    missing: tuple[str, ...] = ()
    found: int = 0


def fill(root: Node, schema: Mapping[str, Any], base: str = "") -> Filled:
    """Fill a schema from a page.

    Args:
        root: the page.
        schema: a JSON schema of an object, a list, or one value. What it refers to is looked up in itself.
        base: the address that links are relative to.

    Returns:
        What was found of it.
    """
    return _Page(root, schema, base).fill(schema, "", _DEEPEST)


class _Page:
    """A page's labelled values and rows, and the schema that references are looked up in. It never changes."""

    def __init__(self, root: Node, schema: Mapping[str, Any], base: str) -> None:
        self._schema = schema
        self._base = base
        self._single = labelled(root)
        self._groups = groups(root)

    def fill(self, schema: Mapping[str, Any], path: str, depth: int) -> Filled:
        """What the page gives for a schema at a path."""
        schema = self._resolved(schema)
        if depth and (schema.get("type") == "object" or "properties" in schema):
            return self._object(schema, path, depth)
        if depth and schema.get("type") == "array":
            return self._list(schema, path)
        value = self._value(path.rpartition(".")[2], schema, self._single)
        return Filled(value, (path or "value",) if value is NOTHING else (), int(value is not NOTHING))

    def _object(self, schema: Mapping[str, Any], path: str, depth: int) -> Filled:
        made: dict[str, object] = {}
        missing: list[str] = []
        found = 0
        required = schema.get("required", ())
        for name, its in schema.get("properties", {}).items():
            filled = self.fill(its, f"{path}.{name}".lstrip("."), depth - 1)
            found += filled.found
            if filled.value is not NOTHING:
                made[name] = filled.value
            if name in required:
                missing += filled.missing
        return Filled(made if found else NOTHING, tuple(missing), found)

    def _list(self, schema: Mapping[str, Any], path: str) -> Filled:
        """The rows of the group that fills most of what an item must have."""
        item = self._resolved(schema.get("items", {}))
        name = path.rpartition(".")[2]
        lists = [self._rows(rows, item, name) for rows in self._groups]
        best = max(lists, key=_size, default=[])
        if not best:
            return Filled(NOTHING, (path or "items",))
        return Filled(best, (), _size(best))

    def _rows(self, rows: Sequence[Sequence[Labelled]], item: Mapping[str, Any], name: str) -> list[object]:
        """The rows that give every value an item must have; of an item that is one value, those that have it under the list's name."""
        properties: Mapping[str, Any] = item.get("properties", {})
        if not properties:
            column = [self._value(name, item, row) for row in rows]
            return [value for value in column if value is not NOTHING]
        required = frozenset(item.get("required", ()))
        made: list[object] = []
        for row in rows:
            values = {name: self._value(name, self._resolved(its), row) for name, its in properties.items()}
            given = {name: value for name, value in values.items() if value is not NOTHING}
            if given and required <= given.keys() and (required or len(given) * 2 > len(properties)):
                made.append(given)
        return made

    def _value(self, name: str, schema: Mapping[str, Any], among: Sequence[Labelled]) -> object:
        """The value whose label says best what a property is called."""
        called, about = _called(name), terms(f"{schema.get('title', '')} {schema.get('description', '')}") - COMMON
        scored = sorted(((_fit(called, about, one.label), -place) for place, one in enumerate(among)), reverse=True)
        for fit, place in scored:
            if fit <= 0:
                break
            value = _read(called, among[-place], schema, self._base)
            if value is not NOTHING:
                return value
        return NOTHING

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        """The schema itself: references followed, a choice between one thing and null taken for the thing."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, Mapping):
                return {}
            if isinstance(ref := schema.get("$ref"), str) and ref.startswith("#"):
                schema = self._at(ref)
                continue
            choices = [one for one in schema.get("anyOf", schema.get("oneOf", ())) if one != {"type": "null"}]
            if not choices:
                return schema
            schema = choices[0]
        return {}

    def _at(self, ref: str) -> object:
        place: object = self._schema
        for part in ref.removeprefix("#").strip("/").split("/"):
            if part:
                place = place.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
        return place


def _called(name: str) -> frozenset[str]:
    return terms(re.sub(r"[_-]+", " ", name))


def _fit(called: frozenset[str], about: frozenset[str], label: str) -> float:
    """How well a label says what is wanted: 3 for the very words, less for more or fewer of them, 0 for none."""
    words = terms(label) - COMMON or terms(label)
    if not words or not called:
        return 0.0
    if words == called:
        return 3.0
    if called <= words:
        return 2.0 + len(called) / (len(words) + 1)
    if words <= called:
        return 1.0 + len(words) / (len(called) + 1)
    if label == "heading" and called & _NAMES:
        return 0.6
    if label == "link" and called & (_NAMES | _ADDRESSES):
        return 0.5
    return 0.9 * len(words & about) / len(words) if words <= about else 0.0


def _read(called: frozenset[str], one: Labelled, schema: Mapping[str, Any], base: str) -> object:
    """The value of a label; its address where an address is wanted."""
    wants_address = bool(called & _ADDRESSES) or schema.get("format") in ("uri", "uri-reference", "url")
    return coerced(_absolute(base, one.url) if wants_address and one.url else one.text, schema)


def _size(made: list[object]) -> int:
    return sum(len(row) if isinstance(row, dict) else 1 for row in made)


def _absolute(base: str, url: str) -> str:
    try:
        return urljoin(base, url)
    except ValueError:  # such as a bracket that opens no address
        return url
