"""Finds words on a page (`find`): the places with most and rarest words, each under its heading, within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from browser_agent.observation.blocks import Block, find_owners
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from browser_agent.observation.shorten import LONGEST_HEADING, LONGEST_NAME, MAIN, SMALL_TABLE, is_links, rank_blocks
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

NOWHERE = "no such words on this page"
_NEAR = 6
"""Places with most of the words that are shown if no place has all; if there are more, the first."""
_WORDS, _WORD = 6, 30
"""Words of a query that are counted, and characters of each."""
_HIT, _WIDE = 90, 300
"""Tokens of a line that are shown around a hit; of a line of controls or links, if few places are shown."""
_CONTROLS, _LINK = 3, 40
"""Controls from which a line is one of controls; characters for each link from which it is running text."""
_FEW = 3
"""Places up to which each is shown with its neighbours."""
_NESTED = 4
"""Lines nested in an entry that are shown with it."""
_REST, _REST_SHARE = 40, 4
"""Tokens of the line about places that do not fit: at most these, and this part of the room."""
_MISSES = 8
"""Places that do not fit before the next are not tried."""
_REST_HEADINGS = 3
_CONTROL_NAME = re.compile(rf'\b[a-z]+ "[^"]*"{REF.pattern}')


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """The lines that a search shows, and the lines of the page that are whole in it."""

    lines: tuple[str, ...]
    whole: frozenset[str] = frozenset()


def find(
    blocks: Sequence[Block],
    shown_as: Sequence[Block],
    queries: tuple[str, ...],
    budget: int,
    above: frozenset[str] = frozenset(),
) -> FoundPlaces:
    """Find the blocks that hold one of `queries`, or all words of one with the words of their heading.

    Args:
        blocks: the blocks that are searched.
        shown_as: the blocks as they are shown.
        queries: words or phrases.
        budget: the most o200k tokens.
        above: lines that the same answer shows already.

    Returns:
        How many places are shown of how many, then the places in page order under their headings, a row with the head
        of its table, a note with its entry. If not all fit, the places that serve the queries best. If no place has all
        words of the only query, how often each word is on the page, and the places with most of them.
    """
    each = [find_hits(blocks, query) for query in queries]
    hits = sorted(set().union(*each))
    intro: tuple[str, ...] = ()
    names = [f"{cut(query, _WORD)} {len(own) or 'none'}" for query, own in zip(queries, each, strict=True)]
    of = f": {', '.join(names)}" if len(queries) > 1 else ""
    if not hits:
        intro, hits, of = _find_nearest(blocks, queries[0]) if len(queries) == 1 else ((NOWHERE,), [], "")
    if not hits:
        return FoundPlaces(intro)
    fresh = [hit for hit in hits if shown_as[hit].text not in above]
    known = f", {len(hits) - len(fresh)} of them above" if len(fresh) < len(hits) else ""
    of = f" of {counted(len(hits), 'place')}{of}{known}"
    search = _Search(shown_as, queries, frozenset(hits), find_owners(blocks), _WIDE if len(fresh) <= _FEW else _HIT)
    said = [replace(block, text="" if is_links(block) else _CONTROL_NAME.sub("", block.text)) for block in blocks]
    worths = rank_blocks(said, " ".join(queries))
    main = [hit for hit in fresh if blocks[hit].region in MAIN | {"search"}] or fresh
    order = sorted(main, key=lambda hit: (-worths[hit], hit))
    room = budget - sum(count(line) + 1 for line in (*intro, of))
    places = search.choose(order, room)
    if not places.issuperset(fresh):
        places = search.choose(order, room - min(_REST, room // _REST_SHARE))
    rest = [hit for hit in fresh if hit not in places]
    more = (search.describe_rest(rest),) if rest else ()
    lines = (*intro, f"{len(hits) - len(rest)}{of}", *search.write(places), *search.name_tables(places), *more)
    return FoundPlaces(lines, frozenset(shown_as[at].text for at in places if search.line(at) == shown_as[at].text))


def find_hits(blocks: Sequence[Block], query: str) -> list[int]:
    """Return the places that hold a query as it is written, else all its words, else all words with their heading's."""
    phrase, wanted = " ".join(query.lower().split()), terms(query)
    texts = [REF.sub("", block.text).lower() for block in blocks]
    hits = [place for place, text in enumerate(texts) if phrase in text]
    if hits or not wanted:
        return hits
    under = [f"{text} {block.section.lower()}" for text, block in zip(texts, blocks, strict=True)]
    whole = [place for place, text in enumerate(texts) if all(word in text for word in wanted)]
    some = (place for place, text in enumerate(texts) if any(word in text for word in wanted))
    return whole or [place for place in some if all(word in under[place] for word in wanted)]


def _find_nearest(blocks: Sequence[Block], query: str) -> tuple[tuple[str, ...], list[int], str]:
    """Return how many places hold each word, the places that hold most of the words, and how many these are."""
    wanted = terms(query)
    texts = [REF.sub("", block.text).lower() for block in blocks]
    asked = list(dict.fromkeys(query.lower().split()))[:_WORDS]
    counts = {word: sum(all(part in text for part in terms(word)) for text in texts) for word in asked}
    if not any(counts.values()):
        return (NOWHERE,), [], ""
    numbers = ", ".join(f"{cut(word, _WORD)} in {number or 'none'}" for word, number in counts.items())
    held = [sum(word in text for word in wanted) for text in texts]
    most = max(held)
    places = [place for place, number in enumerate(held) if number == most and most]
    intro = (f"no such words in one place of this page: {numbers}",)
    return intro, places if len(places) <= _NEAR else places[:1], f" with most of them, {most} of {len(wanted)}"


@dataclass(frozen=True, slots=True)
class _Search:
    """One search of a page: the blocks as they are shown, the places that were found, and the block each belongs to."""

    blocks: Sequence[Block]
    queries: tuple[str, ...]
    hits: frozenset[int]
    owners: Sequence[int | None]
    wide: int

    def choose(self, order: Sequence[int], room: int) -> set[int]:
        """Return the first places that fit a room of o200k tokens, each with its entry and table head; few with
        their context.
        """
        places: set[int] = set()
        misses = 0
        for hit in order:
            needed = {hit, *self._find_needed(hit)}
            if not places or self._cost(places | needed) <= room:
                places |= needed if self._cost(needed) <= room else {hit}
            else:
                misses += 1
            if misses == _MISSES:
                break
        for hit in [hit for hit in order if hit in places]:
            rows = self._rows_below(hit)
            if len(rows) <= SMALL_TABLE and self._cost(places.union(rows)) <= room:
                places.update(rows)
        for near in (near for hit in order if hit in places and len(order) <= _FEW for near in self._find_context(hit)):
            if self._cost(places | {near}) > room:
                break
            places.add(near)
        return places

    def _find_needed(self, hit: int) -> Iterator[int]:
        """Return the entry a place is nested in, and the head of its table."""
        owner, group = self.owners[hit], self.blocks[hit].group
        if owner is not None:
            yield owner
        above = range(hit - 1, -1, -1) if group is not None else ()
        yield from [place for place in above if self.blocks[place].head and self.blocks[place].group == group][:1]

    def _rows_below(self, hit: int) -> list[int]:
        """Return the rows of the table that a place heads."""
        group, after = self.blocks[hit].group, range(hit + 1, len(self.blocks))
        return [place for place in after if self.blocks[place].group == group] if self.blocks[hit].head else []

    def _find_context(self, hit: int) -> Iterator[int]:
        """Return the text under a heading, the lines nested in an entry or row, else the line before and the line
        after.
        """
        block, after = self.blocks[hit], range(hit + 1, len(self.blocks))
        if block.group is not None and (block.row or block.head):
            nested = next((at for at in after if self.blocks[at].indent <= block.indent), len(self.blocks))
            yield from range(hit + 1, min(nested, hit + 1 + _NESTED))
            return
        for place in after if block.level else (hit - 1, hit + 1):
            near = self.blocks[place] if 0 <= place < len(self.blocks) else None
            if near is not None and (near.section, near.region) == (block.section, block.region):
                yield place
            elif block.level:
                return

    def _cost(self, places: set[int]) -> int:
        return sum(count(line) + 1 for line in self.write(places))

    def write(self, places: set[int]) -> Iterator[str]:
        """Write places in page order, each heading once, with the ref by which its part of the page is read."""
        section = ""
        for place in sorted(places):
            block = self.blocks[place]
            if block.level:
                yield f"§ {self.line(place).lstrip('# ')}{_mark_heading(block)}"
            else:
                if block.section not in ("", section):
                    yield f"§ {self._name_section(place, LONGEST_HEADING)}"
                yield " " * min(block.indent, 4) + self.line(place)
            section = block.section

    def line(self, place: int) -> str:
        """Return the text of a place; of a long text the part around the hit."""
        block = self.blocks[place]
        if place not in self.hits:
            return cut(block.text, _HIT * 4)
        is_bar = block.controls >= _CONTROLS or block.links * _LINK >= len(REF.sub("", block.text)) > _LINK
        return _cut_around(block.text, self.queries, self.wide if is_bar else _HIT)

    def _name_section(self, place: int, most: int) -> str:
        section = self.blocks[place].section
        above = (self.blocks[at] for at in range(place, -1, -1))
        heading = next((block for block in above if block.level and block.section == section), None)
        return cut(section, most) + (_mark_heading(heading) if heading is not None else "")

    def name_tables(self, places: set[int]) -> Iterator[str]:
        """Say where the rows are of tables of which the head is shown and the rows are not."""
        for hit in sorted(places & self.hits):
            left, group = set(self._rows_below(hit)) - places, self.blocks[hit].group
            if left and group is not None and group.ref:
                yield f"… {counted(len(left), 'row')} below that head: read [{group.ref}]"

    def describe_rest(self, rest: Sequence[int]) -> str:
        """Say how many more places there are, and under which headings."""
        refs = ((self.blocks[at].section, at, self.blocks[at].ref) for at in rest)
        named = (
            self._name_section(at, LONGEST_NAME) if section else f"[{ref}]" if ref else "" for section, at, ref in refs
        )
        names = list(dict.fromkeys(filter(None, named)))
        more = f" +{len(names) - _REST_HEADINGS}" if len(names) > _REST_HEADINGS else ""
        return f"… {len(rest)} more" + (f" in {'; '.join(names[:_REST_HEADINGS])}{more}" if names else "")


def _mark_heading(heading: Block) -> str:
    return f"[{heading.ref}]" if heading.ref and heading.ref not in heading.refs else ""


def _cut_around(text: str, queries: tuple[str, ...], most: int) -> str:
    """Return a text; if it costs more than `most` o200k tokens, the part around the first place of a query."""
    if len(text) <= most * 2 or count(text) <= most:
        return text
    found = [at for query in queries if (at := text.lower().find(" ".join(query.lower().split()))) >= 0]
    at = min(found) if found else first_mention(text, terms(" ".join(queries)))
    start = text.rfind(" ", 0, max(0, at - 120)) + 1 if at > 160 else 0
    part = trim_torn_ref(head(text[start:], most))
    return ("… " if start else "") + part + (" …" if start + len(part) < len(text) else "")
