"""Shortens a page to a budget: which blocks a look shows, where words are found, what changed since the last look."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import urlsplit

from browser_agent.observation import Observation, PageCut
from browser_agent.observation.blocks import Block, Group, find_owners
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from ctxfold.select import PAGE, Piece, score
from ctxfold.select.pieces import words_of
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

_MAIN = frozenset({"main", "body", "dialog"})
_OTHER_PAGES = 2
"""Other pages of a site that have a line of links before it counts as shown everywhere."""
_MOST_LINES = 4_000
_MENU, _LINKS = "m", "l"
_SMALL_TABLE = 12
"""Rows of a table that is shown with its head or caption."""
_HEADING, _NAME = 80, 40
"""Characters of a heading above lines, and in a list of headings."""


@dataclass(frozen=True, slots=True)
class Before:
    """What the reader of an observation has seen.

    Attributes:
        lines: the lines of this page at the last look; None if there was none.
        known: the lines that other pages of the site share with it.
        above: lines of this page that the same answer shows already.
    """

    lines: frozenset[str] | None = None
    known: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()


NOTHING_BEFORE = Before()


@dataclass(frozen=True, slots=True)
class Furniture:
    """On which pages of one site lines of menus and of links were seen. A frozen value: each page gives another."""

    origin: tuple[str, str] = ("", "")
    places: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    def after(self, page: Observation) -> Furniture:
        """Return this after one more page."""
        parts = urlsplit(page.url)
        origin = (parts.scheme, parts.netloc)
        places = dict(self.places) if origin == self.origin else {}
        for line in page.standing[:_MOST_LINES]:
            on = places.get(line, frozenset())
            if len(on) <= _OTHER_PAGES:
                places[line] = on | {parts.path}
        return Furniture(origin, MappingProxyType(places))

    def known_on(self, url: str) -> frozenset[str]:
        """Return the lines that other pages of the same site have: a line of a menu on one, a line of links on two."""
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc) != self.origin:
            return frozenset()
        others = {line: len(on - {parts.path}) for line, on in self.places.items()}
        return frozenset(line for line, number in others.items() if number >= (1 if line[0] == _MENU else _OTHER_PAGES))


def name_lines(blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return for each block the name by which it is known again on other pages; empty for a block of the page's own.

    Known again are menus, all outside the main part of a page that has one, lines of links alone, and entries of a list
    whose headings are links.
    """
    has_main = any(block.region == "main" for block in blocks)
    around = {"nav", "header", "footer"} | ({"body", "aside"} if has_main else set())
    names: list[str] = []
    list_title = entry = ""
    list_level = 0
    for block in blocks:
        text = REF.sub("", block.text)
        if block.region not in ("main", "body") or block.controls:
            list_title = entry = ""
        elif block.level and is_links(block) and list_title and block.level > list_level:
            entry = f"{_LINKS}{list_title}\n{text}"
        elif block.level:
            list_title, list_level, entry = text, block.level, ""
        only_links = is_links(block) and not block.controls and not block.level
        names.append(entry or (_MENU + text if block.region in around else _LINKS + text if only_links else ""))
    return tuple(names)


def is_links(block: Block) -> bool:
    """Return whether a line is of links alone."""
    *before, after = (part.strip(" -·|") for part in REF.split(block.text)[::2])
    return bool(block.links) and all(before) and not after


def find_own(blocks: Sequence[Block], before: Before) -> tuple[int, ...]:
    """Return the places of the blocks outside of menus that the reader saw on other pages; all if there are none."""
    names = name_lines(blocks) if before.known else [""] * len(blocks)
    own = tuple(place for place, name in enumerate(names) if name[:1] != _MENU or name not in before.known)
    return own or tuple(range(len(blocks)))


_GONE, _GONE_LENGTH = 3, 48
"""Lines that are gone which are quoted, and characters of each."""
_VALUE = re.compile(REF.pattern + r'(?: \([^()]*\))?(?: ?="[^"]*")?')
"""A control's ref with its states and its value."""


def describe_changes(
    blocks: Sequence[Block], lines: frozenset[str], part: Sequence[Block] | None = None
) -> tuple[str, ...]:
    """Return what is new on a page, or in a `part` of it, since it had these lines, and what is gone.

    A line that only has other values is new and not gone.
    """
    now = {block.text for block in blocks}
    fresh = [block for block in (blocks if part is None else part) if block.text not in lines]
    changed = {_VALUE.sub("", block.text) for block in fresh}
    refs = {ref for block in fresh for ref in block.refs}
    gone = [line for line in lines - now if _VALUE.sub("", line) not in changed]
    gone = sorted(cut(REF.sub("", line), _GONE_LENGTH) for line in gone if not _is_kept(line, refs))
    more = f" and {len(gone) - _GONE} more" if len(gone) > _GONE else ""
    loss = (f"gone: {'; '.join(gone[:_GONE])}{more}",) if gone else ()
    if not fresh and not gone:
        return ("(nothing on the page changed)",)
    return ("(as last seen but for this)", *_write_news(fresh), *loss)


def _is_kept(line: str, refs: set[str]) -> bool:
    """Return whether every element of a line is among `refs`, and there is one."""
    own = REF.findall(line)
    return bool(own) and refs.issuperset(own)


def _write_news(fresh: Sequence[Block]) -> Iterator[str]:
    section = ""
    for block in fresh:
        if block.section and block.section != section and not block.level:
            yield f"§ {cut(block.section, _HEADING)}"
        section = block.section
        yield " " * min(block.indent, 4) + block.text


def rank_blocks(blocks: Sequence[Block], query: str) -> list[float]:
    """Return how well each block serves a query, from 0 to 1 for the best: the selector's formula with its weights for
    pages.
    """
    if not query:
        return [0.0] * len(blocks)
    worths = score([Piece(block.text, 1, words=words_of(REF.sub("", block.text))) for block in blocks], query, PAGE)
    most = max(worths, default=0.0) or 1.0
    return [worth / most for worth in worths]


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
    main = [hit for hit in fresh if blocks[hit].region in _MAIN | {"search"}] or fresh
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
            if len(rows) <= _SMALL_TABLE and self._cost(places.union(rows)) <= room:
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
                    yield f"§ {self._name_section(place, _HEADING)}"
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
        named = (self._name_section(at, _NAME) if section else f"[{ref}]" if ref else "" for section, at, ref in refs)
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


_WHOLE = 0.55
"""A page that takes no more of the budget is shown whole."""
_COMMON, _COMMON_ASKED = 0.5, 0.3
"""The share of the budget that goes to what the page puts first; if the task asks for something, and the rest goes to
that.
"""
_ASKED = 0.6
"""The rank, of 1, from which a block counts as asked for. On the 12 tasks of `tests.benchmarks.page_tasks`, all in 13
calls: with 0.5 9,127 tokens, with 0.7 8,122, with this 8,579.
"""
_LONG, _LONG_ASKED = 130, 260
"""Tokens of a long block that are shown; of one that is asked for or has controls."""
_GAP, _MARKER = 16, 10
"""Tokens of a gap that is shown, as its marker costs as much; tokens of the marker."""
_CUT_HEADINGS = 3
_ROWS, _FEWEST_ROWS, _ROWS_SHARE = 12, 4, 0.3
"""Rows of the page's main table that come first; the rows and the share of the main part from which a table is the main
one.
"""
_START = 24
"""Characters by which a line on screen is known again."""
_LEADING = 5
"""Rows of any list before the others are worth less and less."""
_REGION = {"dialog": 12.0, "main": 5.0, "body": 4.5, "search": 4.5, "header": 2.5, "nav": 2.0, "aside": 1.5,
           "footer": 0.5}  # fmt: skip
"""What a block is worth by its region, in points. The other points: chosen by hand on the pages of
`tests.benchmarks.observation`.
"""
_ASKED_POINTS, _FRESH, _ON_SCREEN, _MAIN_ROW, _CONTROL, _EARLY = 9.0, 6.0, 5.0, 3.0, 2.5, 2.5
"""Points for the block that serves the need best, for one that an action brought, for one on screen after a scroll, for
the first rows of the main table, for a control, and for the first block of the main part.
"""
_NO_WORDS = re.compile(REF.pattern + r"|\b(?:button|link|checkbox|textbox)\b|[\W_]+")


@dataclass(frozen=True, slots=True)
class Pruned:
    """The lines to show, and the stretches cut between them."""

    lines: tuple[str, ...]
    cut: tuple[PageCut, ...]


@dataclass(frozen=True, slots=True)
class Interest:
    """What a look is for: the `need` in words, starts of the lines `shown` on screen after a scroll, what was seen
    `before`.
    """

    need: str = ""
    shown: tuple[str, ...] = ()
    before: Before = NOTHING_BEFORE


def prune(blocks: Sequence[Block], interest: Interest, budget: int, page_of: Callable[[int], int]) -> Pruned:
    """Choose the blocks that a look shows within a budget of o200k tokens.

    `page_of` returns the page on which a block is when the whole is read. Returns the blocks in page order with a line
    for each stretch that is cut.
    """
    asked = rank_blocks(blocks, interest.need)
    rows = _find_main_rows(blocks)
    points = _count_points(blocks, asked, rows, interest)
    texts = _shorten_texts(blocks, asked, interest.need, budget)
    costs = [count(text) + 1 for text in texts]
    if sum(costs) <= budget * _WHOLE and None not in points:
        return _lay_out(blocks, texts, set(range(len(blocks))), page_of)
    ranked = sorted((-worth, place) for place, worth in enumerate(points) if worth is not None)
    wanted = _with_rows(blocks, {place for place, rank in enumerate(asked) if rank >= _ASKED})
    wanted.update(rows if interest.need else ())
    chosen: list[int] = []
    taken: set[int] = set()
    spent, common = 0, _COMMON_ASKED if wanted else _COMMON
    for place in (place for _, place in ranked):
        cost = costs[place] + _MARKER * (
            1 - (place - 1 in taken) - (place + 1 in taken)
        )  # a block splits or closes a gap
        if spent + cost <= budget * (1 if place in wanted or not taken else common):
            chosen.append(place)
            taken.add(place)
            spent += cost
    owners = find_owners(blocks)
    while True:
        shown = {*chosen, *(owner for place in chosen if (owner := owners[place]) is not None)}
        pruned = _lay_out(blocks, texts, _close_small_gaps(shown, costs), page_of)
        over = count("\n".join(pruned.lines)) - budget
        if over <= 0 or not chosen:
            return pruned
        while over > 0 and chosen:
            over -= costs[chosen.pop()]


def _count_points(
    blocks: Sequence[Block], asked: Sequence[float], rows: Sequence[int], interest: Interest
) -> list[float | None]:
    """Return what each block is worth to a reader; None for one that was shown before, on this page or on others."""
    starts = tuple(start for start in (_strip_words(line)[:_START] for line in interest.shown) if start)
    known, lines = interest.before.known, interest.before.lines
    names = name_lines(blocks) if known else [""] * len(blocks)
    points: list[float | None] = []
    bars: set[str] = set()
    in_main = 0
    for place, (block, rank) in enumerate(zip(blocks, asked, strict=True)):
        worth = _REGION.get(block.region, 4.0) + _ASKED_POINTS * rank + (3 / block.level if block.level else 0)
        if block.region in ("main", "body"):
            worth += _EARLY * math.exp(-in_main / 12)
            in_main += 1
        words = _strip_words(block.text) if block.controls or starts else ""
        worth += _CONTROL if block.controls else 0
        if starts and words.startswith(starts):
            worth += _ON_SCREEN
        elif place in rows[:_ROWS]:
            worth += _MAIN_ROW
        elif block.group is not None and not block.head:
            worth -= min(4.0, 0.45 * max(0, block.row - _LEADING))
        worth += _FRESH if lines is not None and block.text not in lines else 0
        is_repeated = bool(block.controls and words) and words in bars  # such as a search field at both ends of a page
        bars.update({words} if block.controls else ())
        points.append(None if is_repeated or (rank < _ASKED and names[place] in known) else worth)
    return points


def _strip_words(text: str) -> str:
    """Return the words of a line alone, so that a line of the snapshot and the same line of the document compare."""
    return " ".join(_NO_WORDS.sub(" ", text).lower().split())


def _find_main_rows(blocks: Sequence[Block]) -> list[int]:
    """Return the rows of the largest table or list of the main part; none if it has few."""
    rows: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        if block.group is not None and block.region in _MAIN and not block.indent:
            rows.setdefault(block.group.id, []).append(place)
    most = max(rows.values(), key=len, default=[])
    return most if len(most) >= max(_FEWEST_ROWS, sum(one.region in _MAIN for one in blocks) * _ROWS_SHARE) else []


def _with_rows(blocks: Sequence[Block], places: set[int]) -> set[int]:
    """Return places and the rows of each small table if its head or caption is among them."""
    tables: dict[Group, list[int]] = {}
    for place, block in enumerate(blocks):
        if block.group is not None and block.group.kind == "row":
            tables.setdefault(block.group, []).append(place)
    for group, rows in tables.items():
        heads = {place for place in rows if blocks[place].head} | ({rows[0] - 1} if group.name else set())
        if len(rows) <= _SMALL_TABLE + 1 and places & heads:
            places = places.union(rows)
    return places


def _close_small_gaps(taken: set[int], costs: Sequence[int]) -> set[int]:
    """Return places and each gap between them that costs no more than its marker."""
    filled, gap = set(taken), list[int]()
    for place in range(len(costs)):
        if place in taken:
            filled.update(gap if sum(costs[one] for one in gap) <= _GAP else ())
            gap = []
        else:
            gap.append(place)
    return filled


def _lay_out(blocks: Sequence[Block], texts: Sequence[str], taken: set[int], page_of: Callable[[int], int]) -> Pruned:
    lines: list[str] = []
    cuts: list[PageCut] = []
    gap: list[int] = []
    for place in range(len(texts) + 1):
        if place < len(texts) and place not in taken:
            gap.append(place)
            continue
        if gap:
            cuts.append(_describe_gap([blocks[one] for one in gap], page_of(gap[0])))
            where = f"[{cuts[-1].ref}]" if cuts[-1].ref else f"page {cuts[-1].page}"
            lines.append(f"… {cuts[-1].what} (read {where})")
            gap = []
        if place < len(texts):
            lines.append(" " * min(blocks[place].indent, 4) + texts[place])
    return Pruned(tuple(lines), tuple(cuts))


def _describe_gap(gap: Sequence[Block], page: int) -> PageCut:
    """Return what a stretch that is cut holds: rows of one table or list, else lines, links and controls; with its
    headings.
    """
    headings = [block for block in gap if block.level]
    headings = [block for block in headings if block.region in _MAIN] or headings
    top = min((block.level for block in headings), default=0)
    titles = [cut(block.section, _NAME) for block in headings if block.level == top]
    more = f" +{len(titles) - _CUT_HEADINGS}" if len(titles) > _CUT_HEADINGS else ""
    named = f": {'; '.join(titles[:_CUT_HEADINGS])}{more}" if titles else ""
    group = gap[0].group
    if group is not None and group.ref is not None and all(block.group == group for block in gap):
        return PageCut(what=counted(len(gap), f"more {group.kind}") + named, ref=group.ref, page=page)
    numbers = {"link": sum(block.links for block in gap), "control": sum(block.controls for block in gap)}
    parts = [counted(len(gap), "line"), *(counted(number, name) for name, number in numbers.items() if number)]
    return PageCut(what=", ".join(parts) + named, page=page)


def _shorten_texts(blocks: Sequence[Block], asked: Sequence[float], need: str, budget: int) -> list[str]:
    """Return the text of each block: all of it if the page fits the budget, else no more than one line may cost."""
    room = budget
    for block in blocks:
        room -= count(block.text) + 1 if room > 0 else 0
    if room >= 0:
        return [block.text for block in blocks]
    return [_shorten_text(block, need if rank >= _ASKED else "") for block, rank in zip(blocks, asked, strict=True)]


def _shorten_text(block: Block, need: str) -> str:
    """Return a block's text; of a long text its beginning, and if that does not hold the need, the part that does."""
    most = _LONG_ASKED if need or block.controls > 1 else _LONG
    if len(block.text) <= most * 2 or count(block.text) <= most:
        return block.text
    where = f"[{block.ref}]" if block.ref else "the page"
    start = first_mention(block.text, terms(need))
    if start > most * 3:
        lead = trim_torn_ref(head(block.text, most // 4))
        part = trim_torn_ref(head(block.text[block.text.rfind(" ", 0, start - 80) + 1 :], most - most // 4))
        return f"{lead} … {part} …(cut: read {where})"
    return f"{trim_torn_ref(head(block.text, most))} …(cut: read {where})"
