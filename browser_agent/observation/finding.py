"""Finds the places of a page that hold some words, and shows them under their headings, with what belongs to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from browser_agent.observation.before import is_links
from browser_agent.observation.blocks import Block, leads
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from browser_agent.observation.matching import NOWHERE, find_hits, find_nearest, say_counts
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

__all__ = ["Found", "find"]

_SECTION = 80
_HIT = 90
_WIDE = 300
"""Tokens of a line of controls, such as a list with its options, where all places fit so."""
_CONTROLS = 3
_LINK = 40
"""Characters a link takes in a line of links, with its ref; running text has fewer links."""
_FEW = 3
"""So few places are shown with what stands beside them."""
_SMALL = 200
"""Tokens of a table that its head brings whole."""
_AFTER = 4
_MAIN = frozenset({"main", "body", "dialog", "search"})
_WORD = 30
_REST, _REST_SHARE = 40, 4
"""Tokens kept for the line that says where the rest stands, and the part of the room that they are at most."""
_MISSES = 8
"""After so many places that do not fit the next are not tried."""
_NAMED = re.compile(rf'\b[a-z]+ "[^"]*"{REF.pattern}')
"""A control with its name."""
_SECTIONS = 3
_ENTRY = "- "
_NAME = 40


@dataclass(frozen=True, slots=True)
class Found:
    """What is shown of a search, and the lines of the page that stand whole in it."""

    lines: tuple[str, ...]
    whole: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Page:
    """A page's blocks, bare and as they are shown, what is looked for, how much of it each place holds, the block each belongs to, and how many tokens of a line of controls or links are shown."""

    bare: Sequence[Block]
    blocks: Sequence[Block]
    queries: tuple[str, ...]
    worth: Mapping[int, float]
    leads: tuple[int | None, ...]
    wide: int = _WIDE


def find(
    blocks: Sequence[Block],
    told: Sequence[Block],
    queries: tuple[str, ...],
    budget: int,
    above: frozenset[str] = frozenset(),
) -> Found:
    """Find the blocks that hold one of `queries`, or all words of one, their heading's included. `told`: the blocks as they are shown; `budget`: o200k tokens; `above`: lines that stand in the same answer already.

    Returns:
        How many places are shown of how many, then these in page order under their headings, a row with the head of its
        table, a note with its entry; where not all fit, those with most and the rarest of the queries, a name of a control last; of one query whose words stand in no place together, how often each stands on the page, and the places with most of them.
    """
    each = [find_hits(blocks, query) for query in queries]
    hits = sorted(set().union(*each))
    nothing: tuple[str, ...] = ()
    of = _count_each(queries, each) if len(queries) > 1 else ""
    if not hits:
        nothing = (say_counts(blocks, queries[0]) if len(queries) == 1 else NOWHERE,)
        most, hits = find_nearest(blocks, terms(queries[0])) if len(queries) == 1 else (0, [])
        of = f" with most of them, {most} of {len(terms(queries[0]))}"
    if not hits:
        return Found(nothing)
    page = _Page(blocks, told, queries, _weigh(blocks, queries, hits, each), leads(blocks))
    fresh = [hit for hit in hits if told[hit].text not in above]
    of = f" of {counted(len(hits), 'place')}{of}"
    room = budget - sum(count(line) + 1 for line in (*nothing, of))
    page, shown = _fitting(page, fresh, room)
    rest = [hit for hit in fresh if hit not in shown]
    again = len(hits) - len(fresh)
    of += f", {again} of them above" if again else ""
    places = (*_written(page, shown, frozenset(hits)), *_name_tables(page, shown, frozenset(hits)))
    left = room - sum(count(line) + 1 for line in places)
    lines = (*nothing, f"{len(hits) - len(rest)}{of}", *places, *((_where_else(page, rest, left),) if rest else ()))
    whole = (told[at].text for at in shown if _line(page, at, frozenset(hits)) == told[at].text)
    return Found(lines, frozenset(whole))


def _count_each(queries: Sequence[str], each: Sequence[Sequence[int]]) -> str:
    """How many places each query has."""
    return ": " + ", ".join(f"{cut(one, _WORD)} {len(own) or 'none'}" for one, own in zip(queries, each, strict=True))


def _weigh(
    blocks: Sequence[Block], queries: Sequence[str], hits: Sequence[int], each: Sequence[Sequence[int]]
) -> dict[int, float]:
    """How much of what is looked for each place holds, what stands in few places weighing more; less than nothing where the names of controls alone hold it."""
    words = terms(" ".join(queries))
    worth = dict.fromkeys(hits, 0.0)
    for own in each:
        for hit in own:
            worth[hit] += 1 / len(own)
    for hit in hits:
        block = blocks[hit]
        said = "" if is_links(block) and not block.level else _NAMED.sub("", block.text).lower()
        if not any(word in said for word in words):
            worth[hit] -= len(queries) + 1
    return worth


def _fitting(page: _Page, hits: Sequence[int], whole: int) -> tuple[_Page, set[int]]:
    """The places that fit, of menus and margins only where the main part has none; long lines of controls whole where all fit so."""
    order = [place for place in hits if page.blocks[place].region in _MAIN] or list(hits)
    order.sort(key=lambda place: (-page.worth[place], place))
    less = whole - min(_REST, whole // _REST_SHARE)
    shown = _shown(page, order, less if len(order) < len(hits) else whole)
    if all(hit in shown for hit in order):
        return page, shown
    page = replace(page, wide=_HIT)
    return page, _shown(page, order, less)


def _shown(page: _Page, order: Sequence[int], room: int) -> set[int]:
    """The first places that fit; with few, also what stands beside them."""
    shown: set[int] = set()
    misses = 0
    for hit in order:
        wider = {*shown, hit, *_belonging(page, hit)}
        if _cost(page, wider, order) <= room:
            shown = wider
        elif not shown:
            shown = {hit}
        else:
            misses += 1
        if misses == _MISSES:
            break
    for hit in [hit for hit in order if hit in shown]:
        rows = _rows_below(page, hit)
        whole = shown | set(rows)
        if _cost(page, set(rows), order) <= _SMALL and _cost(page, whole, order) <= room:
            shown = whole
    if len(order) > _FEW:
        return shown
    around = _around_one if len(order) == 1 else _beside
    for beside in (place for hit in order if hit in shown for place in around(page, hit)):
        if _cost(page, shown | {beside}, order) > room:
            break
        shown |= {beside}
    return shown


def _belonging(page: _Page, hit: int) -> Iterator[int]:
    """What a place means nothing without: the entry it is nested in, the head of its table."""
    above = page.leads[hit]
    if above is not None:
        yield above
    if (head_row := _head_of(page, hit)) is not None:
        yield head_row


def _head_of(page: _Page, hit: int) -> int | None:
    """The row that heads the columns of the table a place is in."""
    group = page.blocks[hit].group
    for place in range(hit - 1, -1, -1) if group is not None else ():
        block = page.blocks[place]
        if block.group == group and block.head:
            return place
    return None


def _rows_below(page: _Page, hit: int) -> list[int]:
    """The rows of the table that a place heads."""
    group = page.blocks[hit].group
    if not page.blocks[hit].head or group is None:
        return []
    return [place for place in range(hit + 1, len(page.blocks)) if page.blocks[place].group == group]


def _around_one(page: _Page, hit: int) -> Iterator[int]:
    """What stands beside the only place: the line before and the line after too, but for a row that its head explains, and an entry of a list."""
    block = page.blocks[hit]
    if _head_of(page, hit) is None and not block.head and not block.text.startswith(_ENTRY):
        for place in (hit - 1, hit + 1):
            if 0 <= place < len(page.blocks) and _together(page, place, hit):
                yield place
    yield from _beside(page, hit)


def _beside(page: _Page, hit: int) -> Iterator[int]:
    """What follows a heading or an entry, else the neighbours of a place under the same heading."""
    block = page.blocks[hit]
    if block.group is not None and page.leads[hit] is None and not block.indent and block.row:
        after = range(hit + 1, min(hit + 1 + _AFTER, len(page.blocks)))
        for place in after:
            if page.blocks[place].indent <= block.indent:
                return
            yield place
        return
    for place in range(hit + 1, len(page.blocks)) if block.level else (hit + 1, hit - 1):
        if not 0 <= place < len(page.blocks) or not _together(page, place, hit):
            return
        yield place


def _together(page: _Page, one: int, other: int) -> bool:
    """Whether two places stand under the same heading, in the same part of the page."""
    first, second = page.blocks[one], page.blocks[other]
    return (first.section, first.region) == (second.section, second.region)


def _cost(page: _Page, places: set[int], hits: Sequence[int]) -> int:
    return sum(count(line) + 1 for line in _written(page, places, frozenset(hits)))


def _written(page: _Page, places: set[int], hits: frozenset[int]) -> Iterator[str]:
    """These places in page order, each heading once, with the ref by which its part of the page is read."""
    section = ""
    for place in sorted(places):
        block = page.blocks[place]
        if block.level:
            yield f"§ {_line(page, place, hits).lstrip('# ')}{_mark(block)}"
        else:
            if block.section != section and block.section:
                yield f"§ {_name_section(page, place)}"
            yield " " * min(block.indent, 4) + _line(page, place, hits)
        section = block.section


def _line(page: _Page, place: int, hits: frozenset[int]) -> str:
    """A place's text, of a long one what stands around what was found."""
    block = page.blocks[place]
    if place not in hits:
        return cut(block.text, _HIT * 4)
    bar = block.controls >= _CONTROLS or block.links * _LINK >= len(page.bare[place].text) > _LINK
    return _part(block.text, page.queries, page.wide if bar else _HIT)


def _name_section(page: _Page, place: int, most: int = _SECTION) -> str:
    """The heading above a place, with its ref."""
    section = page.blocks[place].section
    above = (page.blocks[at] for at in range(place, -1, -1))
    heading = next((block for block in above if block.level and block.section == section), None)
    return cut(section, most) + (_mark(heading) if heading is not None else "")


def _mark(heading: Block) -> str:
    return f"[{heading.ref}]" if heading.ref and heading.ref not in heading.refs else ""


def _name_tables(page: _Page, shown: set[int], hits: frozenset[int]) -> Iterator[str]:
    """Where the rows stand of tables of which not much more than the head is shown."""
    for hit in sorted(shown & hits):
        left, group = set(_rows_below(page, hit)) - shown, page.blocks[hit].group
        if left and group is not None and group.ref:
            yield f"… {counted(len(left), 'row')} below that head: read [{group.ref}]"


def _where_else(page: _Page, rest: Sequence[int], room: int) -> str:
    """How many more places there are, and under which headings, of these as many as fit."""
    names = list(dict.fromkeys(filter(None, (_name_place(page, at) for at in rest))))
    for named in range(min(len(names), _SECTIONS), 0, -1):
        more = f" +{len(names) - named}" if len(names) > named else ""
        line = f"… {len(rest)} more in {'; '.join(names[:named])}{more}"
        if count(line) < room:
            return line
    return f"… {len(rest)} more"


def _name_place(page: _Page, place: int) -> str:
    """What a place is read by: its heading with a ref, else its own."""
    block = page.blocks[place]
    return _name_section(page, place, _NAME) if block.section else f"[{block.ref}]" if block.ref else ""


def _part(text: str, queries: tuple[str, ...], most: int) -> str:
    """`text`, where it costs more than `most` tokens the part of it around what was found."""
    if len(text) <= most * 2 or count(text) <= most:
        return text
    low = text.lower()
    found = [at for query in queries if (at := low.find(" ".join(query.lower().split()))) >= 0]
    at = min(found) if found else first_mention(text, terms(" ".join(queries)))
    start = text.rfind(" ", 0, max(0, at - 120)) + 1 if at > 160 else 0
    part = trim_torn_ref(head(text[start:], most))
    return ("… " if start else "") + part + (" …" if start + len(part) < len(text) else "")
