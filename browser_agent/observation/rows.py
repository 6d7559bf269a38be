"""Writes the values of a schema within a budget, an item a line, those of several pages together."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from unicodedata import category
from urllib.parse import urlsplit

from browser_agent.observation import Extracted, Observation
from browser_agent.observation.capture import Card
from browser_agent.observation.inline import FIELDS, clean, cut, label, render
from ctxfold.log.page import Node
from ctxfold.text.words import counted
from ctxfold.tokens import count

_NEAR = 60
"""Characters of what stands near a value that was not found."""


def format_extracted(extracted: Extracted, room: int, here: str = "", said: Sequence[str] = ()) -> tuple[str, ...]:
    """What is missing and where values come from that have no label (`said` says it for several pages), then the value, an item a line, as many as fit in `room` o200k tokens; the names of rows stand once, above them, and addresses on the site of `here` as paths."""
    missing = ", ".join(f"{name}{_say_near(name, (extracted,))}" for name in extracted.missing)
    lines = [
        *(said or _say("not found on this page", missing)),
        *_say("text beneath a heading", _say_beneath(extracted)),
    ]
    if extracted.value is None:
        return (*lines, "nothing on this page is labelled so; read or find shows what stands there")
    names, items = _as_rows(_without_site(extracted.value, "{0.scheme}://{0.netloc}/".format(urlsplit(here))))
    lines += [json.dumps(names, ensure_ascii=False)] if names else []
    spent = sum(count(line) + 1 for line in lines) + 24
    if len(items) == 1 and isinstance(items[0], dict) and spent + count(json.dumps(items[0])) > room:
        items = [{name: value} for name, value in items[0].items()]
    for place, item in enumerate(items):
        line = json.dumps(item, ensure_ascii=False)
        spent += count(line) + 1
        if spent > room:
            lines.append(f"… {len(items) - place} more of {len(items)}: recall the record of this call")
            break
        lines.append(line)
    return tuple(lines)


def join_extracted(pages: Sequence[Observation], room: int) -> Observation:
    """The last of several pages with the values of all of them: rows after rows, else the value of each page."""
    alone = [page.extracted for page in pages if page.extracted is not None]
    found = _fill_by_spot(alone)
    values = [each.value for each in found if each.value is not None]
    missing = tuple(dict.fromkeys(name for each in found for name in each.missing))
    beneath = {name: title for each in found for name, title in each.beneath.items()}
    joined = Extracted(value=_join(values), missing=missing, beneath=beneath)
    last = pages[-1]
    heading = f"{counted(len(pages), 'page')} to {last.url}"
    said = (*_say_lacking(found), *_say("by the place where other pages have it", _count_more(alone, found)))
    text = "\n".join((heading, *format_extracted(joined, room - count(heading), last.url, said)))
    return last.model_copy(update={"heading": heading, "text": text, "tokens": count(text), "extracted": joined})


def _fill_by_spot(found: Sequence[Extracted]) -> list[Extracted]:
    """What several pages gave, and for a text without a label that most of them have in one spot, on the others what stands there."""
    filled = list(found)
    for name in {name for each in found for name in each.spots}:
        having = [each for each in found if name in each.spots and isinstance(each.value, dict)]
        spots = {each.spots[name] for each in having}
        if (
            len(spots) > 1
            or 2 * len(having) <= len(found)
            or not all(isinstance(each.value.get(name), str) for each in having)
        ):
            continue
        spot = spots.pop()
        filled = [_with(each, name, each.phrases.get(spot, "")) for each in filled]
    return filled


def _with(each: Extracted, name: str, text: str) -> Extracted:
    if name not in each.missing or not text:
        return each
    missing = tuple(other for other in each.missing if other != name)
    return each.model_copy(update={"value": {**(each.value or {}), name: text}, "missing": missing})


def _count_more(before: Sequence[Extracted], after: Sequence[Extracted]) -> str:
    """Which values some pages have more than before, and on how many."""
    more = Counter(name for one, other in zip(before, after, strict=True) for name in {*one.missing} - {*other.missing})
    return ", ".join(f"{name} {number}" for name, number in more.items())


def _say(what: str, of: str) -> tuple[str, ...]:
    return (f"{what}: {of}",) if of else ()


def _say_beneath(extracted: Extracted) -> str:
    return ", ".join(f"{name} (§ {cut(title, _NEAR)})" for name, title in extracted.beneath.items())


def _say_near(name: str, found: Sequence[Extracted]) -> str:
    """What a page says where a value is missing."""
    near = next((each.near[name] for each in found if name in each.missing and name in each.near), "")
    return f" (near: {cut(near, _NEAR)})" if near else ""


def _say_lacking(found: Sequence[Extracted]) -> tuple[str, ...]:
    """What some of several pages have not, and how many have it."""
    lacking = Counter(name for each in found for name in each.missing)
    said = (f"{name} {len(found) - without or 'none'}{_say_near(name, found)}" for name, without in lacking.items())
    return _say(f"found on so many of {counted(len(found), 'page')}", ", ".join(said))


def _without_site(value: object, site: str) -> object:
    """A value with each address on a site as its path."""
    match value:
        case str() if value.startswith(site):
            return value[len(site) - 1 :]
        case dict():
            return {name: _without_site(inner, site) for name, inner in value.items()}
        case list():
            return [_without_site(inner, site) for inner in value]
        case _:
            return value


def _join(values: Sequence[Any]) -> Any:
    """Lists end to end, of objects those under one name; anything else as a list."""
    if values and all(isinstance(value, list) for value in values):
        return [row for value in values for row in value]
    names = dict.fromkeys(name for value in values if isinstance(value, dict) for name in value)
    if names and all(isinstance(part, list) for value in values for part in _parts(value)):
        return {name: [row for value in values for row in value.get(name, ())] for name in names}
    return list(values) or None


def _parts(value: object) -> Sequence[object]:
    return list(value.values()) if isinstance(value, dict) else [value]


def _as_rows(value: object) -> tuple[list[str], list[object]]:
    """The names of a list's objects and each as a row of its values; a value alone, and a list of anything else, without names."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), list):
        value = only
    items = value if isinstance(value, list) else [value]
    names = list(dict.fromkeys(name for item in items if isinstance(item, dict) for name in item))
    if len(items) < 2 or not all(isinstance(item, dict) for item in items):
        return [], items
    return names, [[item.get(name) for name in names] for item in items if isinstance(item, dict)]


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
        if one.label and (scaled := _SCALED.match(one.text)):
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
    """The values of one of several elements alike: each piece of text under the words its page gives it, none for some, or that stand before it in the text."""
    return tuple(one for label, text, url in card for one in _pieces(label, clean(text), url) if one.text)


def _pieces(label: str, text: str, url: str) -> Iterator[Labelled]:
    yield Labelled(label, text, url)
    if parts := _COLON.match(text):
        yield Labelled(parts[1], parts[2], url)
    if _is_money(text):
        yield Labelled(AMOUNT, text, url)


def find_amount(texts: Sequence[str]) -> tuple[Labelled, ...]:
    """The amount of money that a page is about: the only one among the texts that may be one; none where there are several."""
    amounts = dict.fromkeys(text for text in map(clean, texts) if _is_money(text))
    return tuple(Labelled(AMOUNT, text) for text in amounts) if len(amounts) == 1 else ()


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
