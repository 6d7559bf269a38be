"""Finds the places of a page that hold some words, and shows them under their headings, with what belongs to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from browser_agent.observation.blocks import Block, leads
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

__all__ = ["find"]

_SECTION = 80
_HIT = 90
_FEW = 3
"""So few places are shown with what stands beside them."""
_AFTER = 4
_MAIN = frozenset({"main", "body", "dialog", "search"})
_WORDS, _WORD = 6, 30
_REST = 24
"""Tokens kept for the line that says where the rest stands."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A page's blocks, the page of the whole each begins on, what is looked for, and the block each belongs to."""

    blocks: Sequence[Block]
    page_of: Callable[[int], int]
    query: str
    leads: tuple[int | None, ...]


def find(blocks: Sequence[Block], query: str, budget: int, page_of: Callable[[int], int]) -> tuple[str, ...]:
    """Find the blocks that hold `query`, else those that hold all its words, their heading's included. `page_of`: the page a block stands on when the whole is read.

    Returns:
        How many places are shown of how many, then these in page order under their headings, a row with the head of its
        table, a note with its entry; where no place holds all the words, how often each stands on the page.
    """
    hits = _hits(blocks, query)
    page = _Page(blocks, page_of, query, leads(blocks))
    if not hits:
        return (_no_such_words(blocks, query), *_nearest(page))
    room = budget - count(f"{len(hits)} of {len(hits)} places") - _REST
    shown = _shown(page, hits, room)
    lines = tuple(_written(page, shown, frozenset(hits)))
    rest = [hit for hit in hits if hit not in shown]
    told = (_where_else(page, rest),) if rest else ()
    return (f"{len(hits) - len(rest)} of {counted(len(hits), 'place')}", *lines, *told)


def _hits(blocks: Sequence[Block], query: str) -> list[int]:
    phrase = " ".join(query.lower().split())
    texts = [REF.sub("", block.text).lower() for block in blocks]
    hits = [place for place, text in enumerate(texts) if phrase in text]
    if hits:
        return hits
    wanted = terms(query)
    if not wanted:
        return []
    whole = [place for place, text in enumerate(texts) if all(word in text for word in wanted)]
    under = [f"{text} {block.section.lower()}" for text, block in zip(texts, blocks, strict=True)]
    return whole or [
        place
        for place, text in enumerate(texts)
        if all(word in under[place] for word in wanted) and any(word in text for word in wanted)
    ]


def _no_such_words(blocks: Sequence[Block], query: str) -> str:
    """That no place holds all the words, and how many hold each."""
    texts = [block.text.lower() for block in blocks]
    asked = list(dict.fromkeys(query.lower().split()))[:_WORDS]
    counts = {word: sum(all(part in text for part in terms(word)) for text in texts) for word in asked}
    if not any(counts.values()):
        return "no such words on this page"
    told = ", ".join(f"{cut(word, _WORD)} in {number or 'none'}" for word, number in counts.items())
    return f"no such words in one place of this page: {told}"


def _nearest(page: _Page) -> Iterator[str]:
    """The place that holds most of the words, where that is more than one of them."""
    wanted = terms(page.query)
    held = [sum(word in f"{block.text} {block.section}".lower() for word in wanted) for block in page.blocks]
    most = max(held, default=0)
    if most > 1:
        place = held.index(most)
        yield f"the place with most of them, {most} of {len(wanted)}:"
        yield from _written(page, {place, *_belonging(page, place)}, frozenset({place}))


def _shown(page: _Page, hits: Sequence[int], room: int) -> set[int]:
    """The hits that fit, of menus and margins only where the main part has none; with few, also what stands beside them."""
    order = [place for place in hits if page.blocks[place].region in _MAIN] or hits
    shown: set[int] = set()
    for hit in order:
        wider = {*shown, hit, *_belonging(page, hit)}
        if _cost(page, wider, hits) > room:
            if not shown:
                shown = {hit}
            break
        shown = wider
    if len(order) > _FEW:
        return shown
    for beside in (place for hit in order if hit in shown for place in _beside(page, hit)):
        if _cost(page, shown | {beside}, hits) > room:
            break
        shown |= {beside}
    return shown


def _belonging(page: _Page, hit: int) -> Iterator[int]:
    """What a place means nothing without: the entry it is nested in, the head of its table."""
    above = page.leads[hit]
    if above is not None:
        yield above
    group = page.blocks[hit].group
    if group is not None:
        yield from _head_of(page, group.id, hit)


def _head_of(page: _Page, group: int, before: int) -> Iterator[int]:
    for place in range(before - 1, -1, -1):
        block = page.blocks[place]
        if block.group is not None and block.group.id == group and block.head:
            yield place
            return


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
    places = range(hit + 1, len(page.blocks)) if block.level else (hit + 1, hit - 1)
    for place in places:
        if not 0 <= place < len(page.blocks) or page.blocks[place].section != block.section:
            return
        yield place


def _cost(page: _Page, places: set[int], hits: Sequence[int]) -> int:
    return sum(count(line) + 1 for line in _written(page, places, frozenset(hits)))


def _written(page: _Page, places: set[int], hits: frozenset[int]) -> Iterator[str]:
    """These places in page order, each heading once, with its page."""
    section: str | None = None
    for place in sorted(places):
        block = page.blocks[place]
        text = _around(block.text, page.query) if place in hits else cut(block.text, _HIT * 4)
        if block.level:
            yield f"§ {text} (page {page.page_of(place)})"
        else:
            if block.section != section and block.section:
                yield f"§ {cut(block.section, _SECTION)} (page {page.page_of(place)})"
            elif section is None:
                yield f"(page {page.page_of(place)})"
            yield " " * min(block.indent, 4) + text
        section = block.section


def _where_else(page: _Page, rest: Sequence[int]) -> str:
    pages = ", ".join(map(str, sorted({page.page_of(place) for place in rest})))
    return cut(f"… {len(rest)} more on page {pages}", _SECTION)


def _around(text: str, query: str) -> str:
    """The part of `text` around what was found in it."""
    if len(text) <= _HIT * 4 and count(text) <= _HIT:
        return text
    at = text.lower().find(" ".join(query.lower().split()))
    at = at if at >= 0 else first_mention(text, terms(query))
    start = text.rfind(" ", 0, max(0, at - 120)) + 1 if at > 160 else 0
    part = trim_torn_ref(head(text[start:], _HIT))
    return ("… " if start else "") + part + (" …" if start + len(part) < len(text) else "")
