"""Writes the values of a schema within a budget, an item a line, those of several pages together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from browser_agent.observation.inline import cut
from browser_agent.observation.values import Extracted, Observation
from ctxfold.text.words import counted
from ctxfold.tokens import count

__all__ = ["format_extracted", "join_extracted"]

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
