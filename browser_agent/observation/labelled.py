"""Finds the values on a page with the labels they stand under, and reads them as a JSON schema's types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from unicodedata import category

from browser_agent.observation.capture import Card
from browser_agent.observation.inline import FIELDS, clean, label, render
from ctxfold.log.snapshot import Node

__all__ = ["AMOUNT", "NOTHING", "Labelled", "coerce", "find_labelled", "find_rows", "read_card", "with_heads"]

NOTHING = object()
"""Stands for no value, where None is one."""

_NUMBER = re.compile(r"[-+−]?\d[\d.,'’\u00a0\u202f ]*")
_SCALED = re.compile(rf"({_NUMBER.pattern})(\D+{_NUMBER.pattern})")
"""A number at the head of a text, and what stands behind it to the next."""
_TRUE, _FALSE = frozenset({"true", "✓", "✔"}), frozenset({"false", "✗", "✘"})


def coerce(text: str, schema: Mapping[str, Any]) -> object:
    """Read a text as the scalar that `schema` wants; `NOTHING` where it is none."""
    if "enum" in schema:
        same = [choice for choice in schema["enum"] if str(choice).casefold() == text.casefold()]
        return same[0] if same else NOTHING
    kinds = schema.get("type", "string")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        match kind:
            case "number" | "integer":
                value = _number(text)
                if isinstance(value, float) and kind == "integer":
                    value = int(value) if value.is_integer() else NOTHING
            case "boolean":
                sign = text.strip().casefold()
                value = True if sign in _TRUE else False if sign in _FALSE else NOTHING
            case "string":
                value = text
            case _:
                value = NOTHING
        if value is not NOTHING:
            return value
    return NOTHING


def _number(text: str) -> object:
    """The one number of a text; nothing where there are several, or none."""
    found = _NUMBER.findall(text)
    if len(found) != 1:
        return NOTHING
    digits = re.sub(r"[\s'’\u00a0\u202f]", "", found[0]).replace("−", "-").rstrip(".,")
    plain = _plain(digits)
    try:
        value = float(plain)
    except ValueError:
        return NOTHING
    return int(value) if value.is_integer() and "." not in plain else value


def _plain(digits: str) -> str:
    """Digits with a point for the decimals and nothing between thousands: the last mark parts decimals unless it comes again, or three digits follow it alone."""
    point, comma = digits.rfind("."), digits.rfind(",")
    if point < 0 and comma < 0:
        return digits
    if point >= 0 and comma >= 0:
        last, other = (".", ",") if point > comma else (",", ".")
        return digits.replace(other, "").replace(last, ".")
    mark = "." if point >= 0 else ","
    whole, _, rest = digits.rpartition(mark)
    thousands = digits.count(mark) > 1 or (mark == "," and len(rest) == 3 and whole.lstrip("+-") not in ("", "0"))
    return digits.replace(mark, "") if thousands else f"{whole}.{rest}"


_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_HEADS = frozenset({"columnheader", "rowheader"})
_TABLES = frozenset({"table", "grid", "treegrid"})
_ITEMS = frozenset({"listitem", "article", "row"})
_BOXES = frozenset({"checkbox", "radio", "switch"})
_LINES = frozenset({"paragraph", "text", "generic", "listitem", "definition", "cell", "strong", "emphasis"})
_COLON = re.compile(r"^([^:]{1,60}?)\s*[:：]\s+(.+)$")
_LONGEST = 2000
AMOUNT = "amount"
"""What an amount of money is called that stands there without a label."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One value as the page has it.

    Attributes:
        label: the words it stands under.
        text: its own.
        url: the address it leads to where it is a link.
        head: the number at its head, where that is known to be what it says, as in `4.5 out of 5`.
    """

    label: str
    text: str
    url: str = ""
    head: str = ""


def find_labelled(root: Node) -> tuple[Labelled, ...]:
    """The labelled values beneath a node, in order: of definition lists, tables of two columns, `name: value` lines, form fields, and its headings."""
    return tuple(found for found in _labelled(root) if found.label and found.text)


def find_rows(root: Node) -> tuple[tuple[tuple[Labelled, ...], ...], ...]:
    """The rows of alike things beneath a node, table by table and list by list; each row as its labelled values."""
    found = [_table(node) for node in root.walk() if node.role in _TABLES]
    found += [tuple(map(find_labelled, items)) for items in _siblings(root)]
    return tuple(rows for rows in found if rows)


def with_heads(rows: Sequence[Sequence[Labelled]]) -> tuple[tuple[Labelled, ...], ...]:
    """The rows with the heads of those columns whose first number differs from row to row and whose second, with all between them, does not: that is a scale."""
    columns: dict[str, list[tuple[str, str]]] = {}
    for one in (one for row in rows for one in row):
        if scaled := _SCALED.match(one.text):
            columns.setdefault(one.label, []).append((scaled[1].strip(), scaled[2].strip()))
    on_scale = {
        label
        for label, found in columns.items()
        if len({head for head, _ in found}) > 1 and len({scale for _, scale in found}) == 1
    }
    return tuple(tuple(_with_head(one) if one.label in on_scale else one for one in row) for row in rows)


def _with_head(one: Labelled) -> Labelled:
    scaled = _SCALED.match(one.text)
    return one if scaled is None else replace(one, head=scaled[1])


def read_card(card: Card) -> tuple[Labelled, ...]:
    """The labelled values of one of several elements alike: the words its page gives to each piece of text, or that stand before it in the text."""
    return tuple(one for label, text, url in card for one in _pieces(label, clean(text), url) if one.label and one.text)


def _pieces(label: str, text: str, url: str) -> Iterator[Labelled]:
    yield Labelled(label, text, url)
    if parts := _COLON.match(text):
        yield Labelled(parts[1], parts[2], url)
    if _is_money(text):
        yield Labelled(AMOUNT, text, url)


def _is_money(text: str) -> bool:
    """Whether a text is a number and one sign of a currency. Its letters would be those of many other things: `PEP 8`."""
    signs = [sign for sign in text if category(sign) == "Sc"]
    return len(signs) == 1 and _NUMBER.fullmatch(text.replace(signs[0], "").strip()) is not None


def _labelled(root: Node) -> Iterator[Labelled]:
    for node in root.walk():
        if node.role == "heading":
            yield Labelled("heading", label(node), _url(node))
        if node.role in FIELDS and node.text:
            yield Labelled(label(node), clean(node.text))
        if node.role in _BOXES:
            yield Labelled(label(node), "true" if "checked" in node.states else "false")
        if node.role == "row":
            yield from _pair(node)
        if node.role in _LINES and (parts := _COLON.match(_read_text(node))):
            yield Labelled(parts[1], parts[2], _url(node))
        if node.role == "link" and node.url:
            yield Labelled("link", label(node), node.url)
        yield from _terms(node.children)


def _pair(row: Node) -> Iterator[Labelled]:
    cells = [cell for cell in row.children if cell.role in _CELLS]
    if len(cells) == 2 and cells[1].role not in _HEADS:
        yield Labelled(_read_text(cells[0]), _read_text(cells[1]), _url(cells[1]))


def _terms(nodes: Sequence[Node]) -> Iterator[Labelled]:
    for before, after in pairwise(nodes):
        if before.role == "term" and after.role == "definition":
            yield Labelled(_read_text(before), _read_text(after), _url(after))


def _table(table: Node) -> tuple[tuple[Labelled, ...], ...]:
    """The rows of a table whose first row heads its columns."""
    rows = [[cell for cell in row.children if cell.role in _CELLS] for row in table.walk() if row.role == "row"]
    if len(rows) < 2 or not rows[0] or rows[0][0].role != "columnheader":
        return ()
    heads = [_read_text(cell) for cell in rows[0]]
    return tuple(
        tuple(Labelled(head, _read_text(cell), _url(cell)) for head, cell in zip(heads, row, strict=False) if head)
        + tuple(Labelled("link", _read_text(cell), _url(cell)) for cell in row if _url(cell))
        for row in rows[1:]
        if len(row) == len(heads) and not all(cell.role == "columnheader" for cell in row)
    )


def _siblings(root: Node) -> Iterator[tuple[Node, ...]]:
    """Two or more items of one kind beside each other."""
    for node in root.walk():
        for role in _ITEMS - {"row"}:
            items = tuple(child for child in node.children if child.role == role)
            if len(items) > 1:
                yield items


def _read_text(node: Node) -> str:
    return (clean(render([node], refs=False).text) or label(node))[:_LONGEST]  # a tick alone is no line of text


def _url(node: Node) -> str:
    return next((inner.url for inner in node.walk() if inner.url), "")
