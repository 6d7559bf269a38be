"""Shortens a page to a budget: which blocks a look shows, and what changed since the last look."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from browser_agent.observation import Observation, PageCut
from browser_agent.observation.blocks import Block, Group, find_owners
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from ctxfold.select import PAGE, Piece, score
from ctxfold.select.pieces import words_of
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

MAIN = frozenset({"main", "body", "dialog"})
_OTHER_PAGES = 2
"""Other pages of a site that have a line of links before it counts as shown everywhere."""
_MOST_LINES = 4_000
_MENU, _LINKS = "m", "l"
SMALL_TABLE = 12
"""Rows of a table that is shown with its head or caption."""
LONGEST_HEADING, LONGEST_NAME = 80, 40
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
            yield f"§ {cut(block.section, LONGEST_HEADING)}"
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
        if block.group is not None and block.region in MAIN and not block.indent:
            rows.setdefault(block.group.id, []).append(place)
    most = max(rows.values(), key=len, default=[])
    return most if len(most) >= max(_FEWEST_ROWS, sum(one.region in MAIN for one in blocks) * _ROWS_SHARE) else []


def _with_rows(blocks: Sequence[Block], places: set[int]) -> set[int]:
    """Return places and the rows of each small table if its head or caption is among them."""
    tables: dict[Group, list[int]] = {}
    for place, block in enumerate(blocks):
        if block.group is not None and block.group.kind == "row":
            tables.setdefault(block.group, []).append(place)
    for group, rows in tables.items():
        heads = {place for place in rows if blocks[place].head} | ({rows[0] - 1} if group.name else set())
        if len(rows) <= SMALL_TABLE + 1 and places & heads:
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
    headings = [block for block in headings if block.region in MAIN] or headings
    top = min((block.level for block in headings), default=0)
    titles = [cut(block.section, LONGEST_NAME) for block in headings if block.level == top]
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
