"""Fills a JSON schema with the values that a page labels, and says what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from browser_agent.observation import Extracted
from browser_agent.observation.capture import Card
from browser_agent.observation.inline import resolve_url, terms
from browser_agent.observation.rows import (
    AMOUNT,
    NOTHING,
    Labelled,
    coerce,
    find_amount,
    find_labelled,
    find_rows,
    read_card,
    with_heads,
)
from browser_agent.observation.unlabelled import (
    find_beneath,
    find_phrases,
    names_itself,
    pick_column,
    stands_by_number,
)
from ctxfold.log.page import Node

__all__ = ["extract"]

_TITLES, _ADDRESSES, _AMOUNTS = terms("name title heading"), terms("url link href address"), terms("price amount")
"""Names that the vocabularies of the web give to a heading, an address and an amount of money, which stand on a page without a label."""
_DEEPEST = 6
_VERY_WORDS = 3.0
"""How well a label fits that is what a property is called."""


def extract(
    root: Node,
    schema: Mapping[str, Any],
    base: str = "",
    cards: Sequence[Sequence[Card]] = (),
    amounts: Sequence[str] = (),
) -> Extracted:
    """Fill a schema from a page: an object from single values, a list from the rows that fit it best: of a table, of a list, or of a group of `cards`. `amounts`: texts that may be the amount of money it is about."""
    page = _Page(root, schema, base, cards, amounts)
    filled = page.fill(schema, "", _DEEPEST)
    return Extracted(
        value=None if filled.value is NOTHING else filled.value,
        missing=filled.missing,
        beneath=page.beneath,
        near=page.near,
        spots=page.spots,
        phrases={one.spot: one.text for one in page.phrases},
    )


class _Filled(NamedTuple):
    value: object
    missing: tuple[str, ...] = ()


class _Page:
    """A page's labelled values and rows, and the schema that references are looked up in.

    Attributes:
        phrases: its short texts without a label.
        beneath: of values that are the text beneath a heading, that heading.
        near: of what was not found, what stands there and names itself so.
        spots: of values that are such short texts, where they stand.
    """

    def __init__(
        self,
        root: Node,
        schema: Mapping[str, Any],
        base: str,
        cards: Sequence[Sequence[Card]],
        amounts: Sequence[str],
    ) -> None:
        self._schema = schema
        self._base = base
        self._single = (*find_labelled(root), *find_amount(amounts))
        self._headed: Mapping[str, tuple[str, ...]] | None = None
        self._root = root
        self.phrases = find_phrases(root)
        self.beneath: dict[str, str] = {}
        self.near: dict[str, str] = {}
        self.spots: dict[str, str] = {}
        self._tables = tuple(map(with_heads, (*find_rows(root), *(tuple(map(read_card, group)) for group in cards))))

    def fill(self, schema: Mapping[str, Any], path: str, depth: int) -> _Filled:
        schema = self._resolve(schema)
        if depth and (schema.get("type") == "object" or "properties" in schema):
            return self._fill_object(schema, path, depth)
        if depth and schema.get("type") == "array":
            return self._fill_list(schema, path)
        name = path.rpartition(".")[2]
        value = self._pick(name, schema, self._single, _VERY_WORDS)
        value = self._pick_beneath(name, schema, path) if value is NOTHING else value
        value = self._pick(name, schema, self._single) if value is NOTHING else value
        value = self._pick_phrase(name, schema, path) if value is NOTHING else value
        return _Filled(value, (path or "value",) if value is NOTHING else ())

    def _fill_object(self, schema: Mapping[str, Any], path: str, depth: int) -> _Filled:
        made: dict[str, object] = {}
        missing: list[str] = []
        for name, its in schema.get("properties", {}).items():
            filled = self.fill(its, f"{path}.{name}".lstrip("."), depth - 1)
            if filled.value is not NOTHING:
                made[name] = filled.value
            missing += filled.missing
        return _Filled(made or NOTHING, tuple(missing))

    def _fill_list(self, schema: Mapping[str, Any], path: str) -> _Filled:
        item = self._resolve(schema.get("items", {}))
        lists = [self._fill_rows(rows, item, path.rpartition(".")[2]) for rows in self._tables]
        best = max(([row for row in rows if _is_whole(row, item)] for rows in lists), key=_count_values, default=[])
        most = schema.get("maxItems")
        best = best[:most] if isinstance(most, int) and most > 0 else best
        if not best:
            return _Filled(NOTHING, _lacking(lists, item, path or "items"))
        given = {name for row in best if isinstance(row, dict) for name in row}
        lacks = tuple(f"{path or 'items'}.{name}" for name in item.get("properties", {}) if name not in given)
        return _Filled(best, lacks)

    def _fill_rows(self, rows: Sequence[Sequence[Labelled]], item: Mapping[str, Any], name: str) -> list[object]:
        """What rows give of an item; of one that is one value, what they have under the list's name."""
        properties: Mapping[str, Any] = item.get("properties", {})
        if not properties:
            return [value for row in rows if (value := self._pick(name, item, row)) is not NOTHING]
        wanted = {name: self._resolve(its) for name, its in properties.items()}
        made = [{name: self._pick(name, its, row) for name, its in wanted.items()} for row in rows]
        texts = [[one for one in row if not one.url] for row in rows]
        for name in (name for name in wanted if all(row[name] is NOTHING for row in made)):
            for values, text in zip(made, pick_column(_called(name), texts) or (), strict=False):
                values[name] = coerce(text, wanted[name]) if text else NOTHING
        return [{name: value for name, value in row.items() if value is not NOTHING} for row in made]

    def _pick_phrase(self, name: str, schema: Mapping[str, Any], path: str) -> object:
        """The only short text of the page that holds the words that a property is called by and a number, else the only one that stands beside a number."""
        said = [one for one in self.phrases if names_itself(_called(name), one.text)]
        with_number = [one for one in said if re.search(r"\d", one.text)]
        meant = with_number or filter(stands_by_number, said)
        found = [(value, one.spot) for one in meant if (value := coerce(one.text, schema)) is not NOTHING]
        if len(found) == 1:
            value, self.spots[path] = found[0]
            return value
        if said:
            self.near[path] = said[0].text
        return NOTHING

    def _pick_beneath(self, name: str, schema: Mapping[str, Any], path: str) -> object:
        """The text beneath the only heading that is what a property is called."""
        if self._headed is None:
            self._headed = find_beneath(self._root)
        exact = [title for title in self._headed if terms(title) == _called(name) != frozenset()]
        if len(exact) == 1 and len(self._headed[exact[0]]) == 1:
            value = coerce(self._headed[exact[0]][0], schema)
            if value is not NOTHING:
                self.beneath[path] = exact[0]
                return value
        about = [title for title in self._headed if _called(name) and _called(name) <= terms(title)]
        if about:
            self.near.setdefault(path, f"§ {about[0]}")
        return NOTHING

    def _pick(self, name: str, schema: Mapping[str, Any], among: Sequence[Labelled], least: float = 0.0) -> object:
        """The value whose label fits best what a property is called, and no less than `least`."""
        called = _called(name)
        about = terms(f"{schema.get('title', '')} {schema.get('description', '')}")
        wants_address = bool(called & _ADDRESSES) or schema.get("format") in ("uri", "uri-reference", "url")
        scored = sorted(((_fit(called, about, one.label), -place) for place, one in enumerate(among)), reverse=True)
        for fit, place in scored:
            if fit <= 0 or fit < least:
                break
            one = among[-place]
            value = coerce(resolve_url(self._base, one.url) if wants_address and one.url else one.text, schema)
            value = coerce(one.head, schema) if value is NOTHING and one.head else value
            if value is not NOTHING:
                return value
        return NOTHING

    def _resolve(self, schema: Any) -> Mapping[str, Any]:
        """The schema itself: references followed, a choice between one thing and null taken for the thing."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, Mapping):
                return {}
            if isinstance(ref := schema.get("$ref"), str) and ref.startswith("#"):
                schema = self._look_up(ref)
                continue
            choices = [one for one in schema.get("anyOf", schema.get("oneOf", ())) if one != {"type": "null"}]
            if not choices:
                return schema
            schema = choices[0]
        return {}

    def _look_up(self, ref: str) -> object:
        place: object = self._schema
        for part in filter(None, ref.removeprefix("#").strip("/").split("/")):
            place = place.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
        return place


def _called(name: str) -> frozenset[str]:
    """The words that a property or what stands on a page is called by."""
    return terms(re.sub(r"[_-]+", " ", name))


def _fit(called: frozenset[str], about: frozenset[str], label: str) -> float:
    """How well a label fits: `_VERY_WORDS` for these, less for more or fewer of them, 0 for none."""
    words = _called(label)
    if not words or not called:
        return 0.0
    if words == called:
        return _VERY_WORDS
    if called <= words:
        return 2.0 + len(called) / (len(words) + 1)
    if words <= called:
        return 1.0 + len(words) / (len(called) + 1)
    if label == "heading" and called & _TITLES:
        return 0.6
    if label == "link" and called & (_TITLES | _ADDRESSES):
        return 0.5
    if label == AMOUNT and called & _AMOUNTS:
        return 0.6
    return 0.9 * len(words) / len(about) if words <= about and 2 * len(words) >= len(about) else 0.0


def _is_whole(row: object, item: Mapping[str, Any]) -> bool:
    """Whether a row gives every value an item must have; where it must have none, more than half of what it may."""
    properties, required = item.get("properties", {}), item.get("required", ())
    if not isinstance(row, dict) or not properties:
        return True
    return row.keys() >= set(required) if required else 2 * len(row) > len(properties)


def _lacking(lists: Sequence[Sequence[object]], item: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """What the rows that come nearest to an item lack of it; the name of all of it where none gives more than half."""
    near = [
        [row for row in rows if isinstance(row, dict) and _is_whole(row, {**item, "required": ()})] for rows in lists
    ]
    given = {name for row in max(near, key=_count_values, default=[]) for name in row}
    return tuple(f"{path}.{name}" for name in item.get("properties", {}) if given and name not in given) or (path,)


def _count_values(made: Sequence[object]) -> int:
    return sum(len(row) if isinstance(row, dict) else 1 for row in made)
