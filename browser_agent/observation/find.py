"""Finds words on a page (`find`): the places with most and rarest words, each under its heading, within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, takewhile

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import REF, cut, terms
from browser_agent.observation.shorten import (
    LONGEST_HEADING,
    LONGEST_NAME,
    MAIN,
    cost_of,
    cut_around,
    indent,
    list_some,
    rank_blocks,
)
from ctxfold.text.words import counted
from ctxfold.tokens import count

NOWHERE = "no such words on this page"
_NEAR = 6
"""Places with most of the words that are shown if no place has all; if there are more, the first."""
_WORDS, _WORD = 6, 30
"""Words of a query that are counted, and characters of each."""
_HIT, _CONTEXT = 90, 360
"""Tokens of a line that are shown around a hit, characters of a line around it."""
_FEW = 3
"""Places up to which each is shown with its neighbours."""
_NESTED = 4
"""Lines nested in an entry that are shown with it."""
_REST, _REST_SHARE = 40, 4
"""Tokens of the line about places that do not fit: at most these, and this part of the room."""
_CONTROL_NAME = re.compile(rf'\b[a-z]+ "[^"]*"{REF.pattern}')


def find(blocks: Sequence[Block], shown_as: Sequence[Block], query: str, budget: int) -> tuple[str, ...]:
    """Find the blocks that hold a query, or all its words with the words of their heading.

    Args:
        blocks: the blocks that are searched.
        shown_as: the blocks as they are shown.
        query: words or a phrase.
        budget: the most o200k tokens.

    Returns:
        How many places are shown of how many, then the places in page order under their headings, a row with the head
        of its table, a note with its entry. If not all fit, the places that serve the query best. If no place has all
        words, how often each word is on the page, and the places with most of them.
    """
    hits, about = find_hits(blocks, query), ""
    intro: tuple[str, ...] = ()
    if not hits:
        intro, hits, about = _find_nearest(blocks, query)
        if not hits:
            return intro
    words = [replace(block, text="" if is_links(block) else _CONTROL_NAME.sub("", block.text)) for block in blocks]
    worths = rank_blocks(words, query)
    main = [hit for hit in hits if blocks[hit].region in MAIN | {"search"}] or hits
    order = sorted(main, key=lambda hit: (-worths[hit], hit))
    search = _Search(shown_as, query, hits)
    of = f" of {counted(len(hits), 'place')}{about}"
    room = budget - cost_of((*intro, of))
    places = search.choose(order, room)
    if not places.issuperset(hits):
        places = search.choose(order, room - min(_REST, room // _REST_SHARE))
    rest = [hit for hit in hits if hit not in places]
    more = (search.describe_rest(rest),) if rest else ()
    return (*intro, f"{len(hits) - len(rest)}{of}", *(search.line(place) for place in sorted(places)), *more)


def is_links(block: Block) -> bool:
    """Return whether a line is of links alone."""
    *before, after = (part.strip(" -·|") for part in REF.split(block.text)[::2])
    return bool(block.links) and all(before) and not after


def find_hits(blocks: Sequence[Block], query: str) -> list[int]:
    """Return the places that hold a query as it is written, else all its words, else all words with their heading's."""
    phrase, wanted = " ".join(query.lower().split()), terms(query)
    texts = [REF.sub("", block.text).lower() for block in blocks]
    hits = [place for place, text in enumerate(texts) if phrase in text]
    if hits or not wanted:
        return hits
    hits = [place for place, text in enumerate(texts) if all(word in text for word in wanted)]
    some = (place for place, text in enumerate(texts) if any(word in text for word in wanted))
    under = [f"{text} {block.section.lower()}" for text, block in zip(texts, blocks, strict=True)]
    return hits or [place for place in some if all(word in under[place] for word in wanted)]


def _find_nearest(blocks: Sequence[Block], query: str) -> tuple[tuple[str, ...], list[int], str]:
    """Return how many places hold each word, the places that hold most of the words, and how many these are."""
    texts = [REF.sub("", block.text).lower() for block in blocks]
    counts = {word: sum(word in text for text in texts) for word in query.lower().split()[:_WORDS]}
    if not any(counts.values()):
        return (NOWHERE,), [], ""
    numbers = ", ".join(f"{cut(word, _WORD)} in {number or 'none'}" for word, number in counts.items())
    held = [sum(word in text for word in counts) for text in texts]
    places = [place for place, number in enumerate(held) if number == max(held)]
    intro = (f"no such words in one place of this page: {numbers}",)
    about = f" with most of them, {max(held)} of {len(counts)}"
    return intro, places if len(places) <= _NEAR else places[:1], about


class _Search:
    """One search of a page: the blocks as they are shown, the query, and the places that were found."""

    def __init__(self, blocks: Sequence[Block], query: str, hits: Sequence[int]) -> None:
        self._blocks = blocks
        self._hits = frozenset(hits)
        self._sought = {" ".join(query.lower().split())} | terms(query)
        headings = (place if block.level else 0 for place, block in enumerate(blocks))
        self._headings = list(accumulate(headings, max))
        self._costs: dict[int, int] = {}

    def choose(self, order: Sequence[int], room: int) -> set[int]:
        """Return the first places that fit a room of o200k tokens, each with what explains it; few with their
        neighbours.
        """
        places: set[int] = set()
        near = (place for hit in order for place in self._find_neighbours(hit)) if len(order) <= _FEW else ()
        for place in (*order, *near):
            together = {place, *self._find_needed(place)} - places
            cost = sum(map(self._cost, together))
            if cost <= room:
                places |= together
                room -= cost
        return places or {order[0]}

    def _cost(self, place: int) -> int:
        if place not in self._costs:
            self._costs[place] = count(self.line(place)) + 1
        return self._costs[place]

    def _find_needed(self, place: int) -> Iterator[int]:
        """Return the heading that a place is under, the entry it is nested in, and the head of its table."""
        block, heading = self._blocks[place], self._headings[place]
        if self._blocks[heading].level:
            yield heading
        if block.owner is not None:
            yield block.owner
        above = range(place - 1, -1, -1) if block.group is not None else ()
        yield from [row for row in above if self._blocks[row].head and self._blocks[row].group == block.group][:1]

    def _find_neighbours(self, hit: int) -> Iterator[int]:
        """Return the text under a heading, the rows under the head of a table, the lines nested in an entry or row,
        else the line before and the line after.
        """
        blocks, block = self._blocks, self._blocks[hit]
        places = range(len(blocks))
        after, around = places[hit + 1 :], places[max(hit - 1, 0) : hit + 2]

        def is_near(place: int) -> bool:
            return (blocks[place].section, blocks[place].region) == (block.section, block.region)

        if block.head:
            return takewhile(lambda place: blocks[place].group == block.group, after)
        if block.group is not None and block.row:
            return islice(takewhile(lambda place: blocks[place].indent > block.indent, after), _NESTED)
        return takewhile(is_near, after) if block.level else filter(is_near, around)

    def line(self, place: int) -> str:
        """Return a place as it is shown: a heading with the ref by which its part of the page is read, of a long text
        the part around the hit.
        """
        block = self._blocks[place]
        if block.level:
            return f"§ {self._name_heading(place, LONGEST_HEADING)}"
        text = cut_around(block.text, self._sought, _HIT) if place in self._hits else cut(block.text, _CONTEXT)
        return indent(block, text)

    def _name_heading(self, place: int, most: int) -> str:
        block = self._blocks[place]
        name = cut(block.text.lstrip("# "), most)
        return f"{name}[{block.ref}]" if block.ref and block.ref not in block.refs else name

    def describe_rest(self, rest: Sequence[int]) -> str:
        """Say how many more places there are, and under which headings."""
        headings = dict.fromkeys(self._headings[place] for place in rest)
        names = list_some([self._name_heading(at, LONGEST_NAME) for at in headings if self._blocks[at].level])
        return f"… {len(rest)} more" + (f" in {names}" if names else "")
