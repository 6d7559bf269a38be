"""Fills a JSON schema from the tables, lists and labelled values of a page, and writes the values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from browser_agent.observation import Extracted
from browser_agent.observation.inline import FIELDS, clean, label, render, resolve_url, terms
from browser_agent.observation.shorten import cost_of
from ctxfold.log.page import Node
from ctxfold.tokens import count

_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_TABLES = frozenset({"table", "grid", "treegrid"})
_LINES = frozenset({"paragraph", "text", "generic", "listitem", "definition", "cell", "strong", "emphasis"})
_COLON = re.compile(r"^([^:]{1,60}?)\s*[:：]\s+(.+)$")
_NUMBER = re.compile(r"[-−]?\d[\d.,'’\u00a0\u202f ]*")
_LONGEST = 2000
"""Characters of one value."""
_DEEPEST = 6
"""Levels of a schema that are followed: a schema may refer to itself."""
_TITLES, _ADDRESSES = terms("name title heading"), terms("url link href address")
"""What schemas call a heading and the target of a link. Pages label neither."""
_UNLABELLED = 0.01
"""How well a heading or link fits: less than any label."""
_TRUTHS = {"true": True, "✓": True, "✔": True, "false": False, "✗": False, "✘": False}


class _Labelled(NamedTuple):
    label: str
    text: str
    url: str = ""


Record = Sequence[_Labelled]
"""The values of one row of a table, of one item of a list, or of a page."""


@dataclass(frozen=True, slots=True)
class _Source:
    """What a schema is filled from: the values of the page, the rows of each table and list, the page's address."""

    schema: Mapping[str, Any]
    page: Record
    tables: Sequence[Sequence[Record]]
    base: str


def extract(root: Node, schema: Mapping[str, Any], base: str = "") -> Extracted:
    """Fill a JSON schema from a page.

    An object is filled from `name: value` lines, definition lists, tables of two columns, form fields and headings. A
    list is filled from the table or list that gives most values, a row for each item. Nothing is guessed: a name that
    the page does not have is `missing`.
    """
    tables = [_read_table(node) for node in root.walk() if node.role in _TABLES]
    for node in root.walk():
        for role in ("listitem", "article"):
            items: list[Record] = [[*_find_labelled(child)] for child in node.children if child.role == role]
            tables.append(items if len(items) > 1 else [])
    value, missing = _fill(_Source(schema, [*_find_labelled(root)], tables, base), schema, "")
    return Extracted(value=value, missing=missing)


def _fill(source: _Source, schema: Any, path: str) -> tuple[Any, tuple[str, ...]]:
    """Return the value for one part of a schema, or None, and the names it found nothing for."""
    schema = _resolve(schema, source.schema)
    properties = schema.get("properties")
    if schema.get("type") == "array":
        return _fill_list(source, _resolve(schema.get("items"), source.schema), schema.get("maxItems"), path or "items")
    if not isinstance(properties, Mapping) or path.count(".") >= _DEEPEST:
        value = _pick(path.rpartition(".")[2], schema, source.page, source.base)
        return value, (path or "value",) if value is None else ()
    parts = {name: _fill(source, part, f"{path}.{name}".lstrip(".")) for name, part in properties.items()}
    values = {name: value for name, (value, _) in parts.items() if value is not None}
    return values or None, tuple(name for _, missing in parts.values() for name in missing)


def _fill_list(source: _Source, item: Mapping[str, Any], most: Any, path: str) -> tuple[Any, tuple[str, ...]]:
    """Return the rows that fill a list best. A row must have all that `item` requires; where it
    requires nothing, more than half of the values.
    """
    properties = item.get("properties")
    parts = properties if isinstance(properties, Mapping) else {path.rpartition(".")[2]: item}
    wanted = {name: _resolve(part, source.schema) for name, part in parts.items()}
    required = {*item.get("required", ())}
    best: list[dict[str, Any]] = []
    for table in source.tables:
        rows = [{name: _pick(name, part, row, source.base) for name, part in wanted.items()} for row in table]
        rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
        rows = [row for row in rows if (row.keys() >= required if required else 2 * len(row) > len(wanted))]
        best = max(best, rows, key=lambda rows: sum(map(len, rows)))
    best = best[:most] if isinstance(most, int) and most > 0 else best
    missing = tuple(f"{path}.{name}" for name in wanted if not any(name in row for row in best))
    values = best if isinstance(properties, Mapping) else [value for row in best for value in row.values()]
    return (values, missing) if best else (None, (path,))


def _pick(name: str, schema: Mapping[str, Any], record: Record, base: str) -> Any:
    """Return the value with the label nearest to `name` that is of the type wanted; None for none."""
    called = terms(re.sub(r"[_-]+", " ", name))
    fits = [(_fit(called, labelled.label), -at, labelled) for at, labelled in enumerate(record)]
    for fit, _, labelled in sorted(fits, key=itemgetter(0, 1), reverse=True):
        text = resolve_url(base, labelled.url) if called & _ADDRESSES and labelled.url else labelled.text
        if not fit or (value := _convert(text, schema)) is not None:
            return value if fit else None
    return None


def _fit(called: frozenset[str], label: str) -> float:
    """Return how near a label is to a name: the share of common words where one has all words of the other, else 0."""
    words = terms(re.sub(r"[_-]+", " ", label))
    common = words & called
    if common and common in (words, called):
        return len(common) / len(words | called)
    unlabelled = (label == "heading" and called & _TITLES) or (label == "link" and called & (_TITLES | _ADDRESSES))
    return _UNLABELLED if unlabelled else 0.0


def _resolve(schema: Any, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of a schema with its reference followed; of a choice, the first that is not null."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        if "$ref" in schema:
            named = whole.get("$defs")
            schema = named.get(str(schema["$ref"]).rpartition("/")[2]) if isinstance(named, Mapping) else None
        elif isinstance(schema.get("anyOf"), list):
            schema = next((choice for choice in schema["anyOf"] if choice != {"type": "null"}), None)
        else:
            return schema
    return {}


def _convert(text: str, schema: Mapping[str, Any]) -> Any:
    """Return a text as the scalar that a schema wants; None for none."""
    kinds = schema.get("type", "string")
    kind = next((kind for kind in kinds if kind != "null"), "") if isinstance(kinds, list) else kinds
    if kind in ("string", "boolean"):
        return text if kind == "string" else _TRUTHS.get(text.strip().casefold())
    numbers = _NUMBER.findall(text)
    if kind not in ("number", "integer") or len(numbers) != 1:
        return None
    digits = re.sub(r"[\s'’]", "", numbers[0]).replace("−", "-").rstrip(".,")
    if "." in digits or re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+", digits):
        digits = digits.replace(",", "")  # between thousands
    with suppress(ValueError):
        value = float(digits.replace(",", "."))
        return int(value) if value.is_integer() else None if kind == "integer" else value
    return None


def _find_labelled(root: Node) -> Iterator[_Labelled]:
    """Find the labelled values beneath a node, in document order."""
    for node in root.walk():
        if node.role == "heading":
            yield _Labelled("heading", label(node), _find_url(node))
        elif node.role == "link":
            yield _Labelled("link", label(node), node.url)
        elif node.role in FIELDS and node.text:
            yield _Labelled(label(node), clean(node.text))
        elif node.role in ("checkbox", "radio", "switch"):
            yield _Labelled(label(node), "true" if "checked" in node.states else "false")
        elif node.role in _LINES and (parts := _COLON.match(_read(node))):
            yield _Labelled(parts[1], parts[2], _find_url(node))
        cells = [cell for cell in node.children if cell.role in _CELLS] if node.role == "row" else []
        if len(cells) == 2 and cells[1].role in ("cell", "gridcell"):
            yield _Labelled(_read(cells[0]), _read(cells[1]), _find_url(cells[1]))
        for term, definition in pairwise(node.children):
            if (term.role, definition.role) == ("term", "definition"):
                yield _Labelled(_read(term), _read(definition), _find_url(definition))


def _read_table(table: Node) -> list[Record]:
    """Return the rows of a table with column headers, each cell under its header; links of a row under `link` too."""
    rows = [[cell for cell in row.children if cell.role in _CELLS] for row in table.walk() if row.role == "row"]
    if not rows or not rows[0] or rows[0][0].role != "columnheader":
        return []
    heads = [_read(cell) for cell in rows[0]]
    return [
        [_Labelled(head, _read(cell), _find_url(cell)) for head, cell in zip(heads, row, strict=True)]
        + [_Labelled("link", _read(cell), _find_url(cell)) for cell in row if _find_url(cell)]
        for row in rows[1:]
        if len(row) == len(heads) and not all(cell.role == "columnheader" for cell in row)
    ]


def _read(node: Node) -> str:
    return (clean(render([node], refs=False).text) or label(node))[:_LONGEST]  # a tick alone is no line of text


def _find_url(node: Node) -> str:
    return next((inner.url for inner in node.walk() if inner.url), "")


def format_extracted(extracted: Extracted, room: int, page_url: str) -> tuple[str, ...]:
    """Write the missing names, then an item a line, as many as fit in `room` o200k tokens.

    The names of rows are written once, above the rows; addresses on the site of `here` are written as paths.
    """
    lines = [f"not found on this page: {', '.join(extracted.missing)}"] if extracted.missing else []
    if extracted.value is None:
        return (*lines, "nothing on this page is labelled so; read or find shows what the page says")
    names, items = _split_names(extracted.value)
    lines += [json.dumps(names, ensure_ascii=False)] if names else []
    site = "{0.scheme}://{0.netloc}/".format(urlsplit(page_url))
    spent = cost_of(lines) + count("… 1000 more of 1000: recall the record of this call")
    for place, item in enumerate(items):
        line = json.dumps(item, ensure_ascii=False).replace(f'"{site}', '"/')
        spent += count(line) + 1
        if spent > room:
            return (*lines, f"… {len(items) - place} more of {len(items)}: recall the record of this call")
        lines.append(line)
    return tuple(lines)


def _split_names(value: Any) -> tuple[list[str], list[Any]]:
    """Return the names of a list's objects, and each object as its values; anything else as items without names."""
    if isinstance(value, dict):
        only = next(iter(value.values())) if len(value) == 1 else None
        value = only if isinstance(only, list) else [{name: part} for name, part in value.items()]
        return _split_names(value) if isinstance(only, list) else ([], value)
    if len(value) < 2 or not all(isinstance(item, dict) for item in value):
        return [], value
    names = list(dict.fromkeys(name for item in value for name in item))
    return names, [[item.get(name) for name in names] for item in value]
