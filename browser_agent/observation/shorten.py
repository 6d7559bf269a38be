"""Shortens a page to a budget: which blocks a look shows, and what changed since the last look."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from urllib.parse import urlsplit

from browser_agent.observation import Observation
from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from ctxfold.select.pieces import Piece, words_of
from ctxfold.select.score import PAGE, score
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

MAIN = frozenset({"main", "body", "dialog"})
LONGEST_HEADING, LONGEST_NAME = 80, 40
"""Characters of a heading above lines, and in a list of headings."""
_MOST_LINES = 4_000


@dataclass(frozen=True, slots=True)
class Interest:
    """What the reader of a page wants to see, and has seen.

    Attributes:
        need: words of the task.
        lines: the lines of this page at the last look; None if there was none.
        known: the menu lines that other pages of the site share with it.
        shown: starts of the lines on screen after a scroll.
    """

    need: str = ""
    lines: frozenset[str] | None = None
    known: frozenset[str] = frozenset()
    shown: tuple[str, ...] = ()


NO_INTEREST = Interest()


@dataclass(frozen=True, slots=True)
class Furniture:
    """The pages of one site on which each menu line was seen, two at most. A frozen value: each page gives another."""

    origin: tuple[str, str] = ("", "")
    paths: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    def add_page(self, page: Observation) -> Furniture:
        """Return these with the menu lines of one more page."""
        parts = urlsplit(page.url)
        paths = dict(self.paths) if parts[:2] == self.origin else {}
        for line in page.menu[:_MOST_LINES]:
            seen_on = paths.get(line, frozenset())
            paths[line] = seen_on if len(seen_on) > 1 else seen_on | {parts.path}
        return Furniture((parts.scheme, parts.netloc), MappingProxyType(paths))

    def find_known(self, url: str) -> frozenset[str]:
        """Return the menu lines that other pages of the same site have."""
        parts = urlsplit(url)
        same = self.paths if parts[:2] == self.origin else {}
        return frozenset(line for line, seen_on in same.items() if seen_on - {parts.path})


def name_menu_lines(blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return each line of the menus around the main part of a page, without refs; "" for every other line."""
    has_main = any(block.region == "main" for block in blocks)
    around = {"nav", "header", "footer"} | ({"body", "aside"} if has_main else set())
    return tuple(REF.sub("", block.text) if block.region in around else "" for block in blocks)


def find_own(blocks: Sequence[Block], known: frozenset[str]) -> tuple[int, ...]:
    """Return the places of the blocks that are not a known menu line; all places if every block is one."""
    own = tuple(place for place, name in enumerate(name_menu_lines(blocks)) if name not in known)
    return own or tuple(range(len(blocks)))


_GONE, _GONE_LENGTH = 3, 48
"""Lines that are gone which are quoted, and characters of each."""
_VALUE = re.compile(REF.pattern + r'(?: \([^()]*\))?(?: ?="[^"]*")?')
"""A control's ref with its states and its value."""


def describe_changes(
    blocks: Sequence[Block], lines: frozenset[str], part: Sequence[Block] | None = None
) -> tuple[str, ...]:
    """Return the new lines of a page, or of a `part` of it, since it had these lines, and the lines that are gone.

    A line that only has other values is new and not gone. A line is not gone if new lines have all its elements.
    """
    fresh = [block for block in (blocks if part is None else part) if block.text not in lines]
    changed = {_VALUE.sub("", block.text) for block in fresh}
    refs = {ref for block in fresh for ref in block.refs}
    lost = [line for line in lines - {block.text for block in blocks} if _VALUE.sub("", line) not in changed]
    gone = sorted(
        cut(REF.sub("", line), _GONE_LENGTH) for line in lost if not (own := REF.findall(line)) or not refs >= {*own}
    )
    if not fresh and not gone:
        return ("(nothing on the page changed)",)
    more = f" and {len(gone) - _GONE} more" if len(gone) > _GONE else ""
    loss = (f"gone: {'; '.join(gone[:_GONE])}{more}",) if gone else ()
    return ("(as last seen but for this)", *_write_news(fresh), *loss)


def _write_news(fresh: Sequence[Block]) -> Iterator[str]:
    """Write new lines, each section title once above its lines."""
    section = ""
    for block in fresh:
        if block.section and block.section != section and not block.level:
            yield f"§ {cut(block.section, LONGEST_HEADING)}"
        section = block.section
        yield indent(block, block.text)


def indent(block: Block, text: str) -> str:
    """Return a block's text as a line, set in as deep as the block is nested."""
    return " " * min(block.indent, 4) + text


def rank_blocks(blocks: Sequence[Block], query: str) -> list[float]:
    """Return how well each block serves a query, from 0 to 1 for the best: the selector's formula with its weights for
    pages.
    """
    if not query:
        return [0.0] * len(blocks)
    worths = score([Piece(block.text, 1, words=words_of(REF.sub("", block.text))) for block in blocks], query, PAGE)
    most = max(worths, default=0.0) or 1.0
    return [worth / most for worth in worths]


def cut_around(text: str, sought: Collection[str], most: int) -> str:
    """Return a text; of one that costs more than `most` o200k tokens, its beginning or the part around the rarest of
    the words and phrases that are `sought`.
    """
    if len(text) <= most * 2 or count(text) <= most:
        return text
    part = trim_torn_ref(head(text, most))
    place = first_mention(text, frozenset(sought))
    if place <= len(part) // 2:
        return f"{part} …"
    rest = text[text.rfind(" ", 0, place - _LEAD) + 1 :] if place > _LEAD else text
    part = trim_torn_ref(head(rest, most))
    return f"… {part} …" if len(part) < len(rest) else f"… {part}"


_LEAD = 120
"""Characters before the words that are sought."""
_WHOLE = 0.55
"""A page that takes no more of the budget is shown whole."""
_COMMON, _COMMON_ASKED = 0.5, 0.3
"""The share of the budget for the parts that the page puts first; and if the task asks for something, which gets the
rest.
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


Pruned = tuple[tuple[str, ...], bool]
"""The lines of a page to show, and whether any stretch of it is cut."""


def prune(blocks: Sequence[Block], interest: Interest, budget: int, page_of: Callable[[int], int]) -> Pruned:
    """Choose the blocks that a look shows within a budget of o200k tokens.

    `page_of` returns the page on which a block is when the whole is read. Returns the blocks in page order with a line
    for each stretch that is cut.
    """
    ranks = rank_blocks(blocks, interest.need)
    rows = _find_main_rows(blocks)
    points = _count_points(blocks, ranks, rows, interest)
    texts = _cut_texts(blocks, ranks, interest.need, budget)
    costs = [count(text) + 1 for text in texts]
    if sum(costs) <= budget * _WHOLE and None not in points:
        return _lay_out(blocks, texts, set(range(len(blocks))), page_of)
    asked = {place for place, rank in enumerate(ranks) if rank >= _ASKED}
    asked.update(rows if interest.need else ())
    order = sorted((-worth, place) for place, worth in enumerate(points) if worth is not None)
    chosen = _choose([place for _, place in order], costs, budget, asked)
    while True:
        shown = {*chosen, *(owner for place in chosen if (owner := blocks[place].owner) is not None)}
        pruned = _lay_out(blocks, texts, shown, page_of)
        over = count("\n".join(pruned[0])) - budget
        if over <= 0 or not chosen:
            return pruned
        while over > 0 and chosen:
            over -= costs[chosen.pop()]


def _choose(order: Sequence[int], costs: Sequence[int], budget: int, asked: set[int]) -> list[int]:
    """Return the first places of an order that fit the budget, in that order. A block splits or closes a gap, and
    the marker of a gap costs too. Blocks that are not asked for get a share of the budget.
    """
    chosen: list[int] = []
    taken: set[int] = set()
    spent, common = 0, _COMMON_ASKED if asked else _COMMON
    for place in order:
        cost = costs[place] + _MARKER * (1 - (place - 1 in taken) - (place + 1 in taken))
        if spent + cost <= budget * (1 if place in asked or not taken else common):
            chosen.append(place)
            taken.add(place)
            spent += cost
    return chosen


def _count_points(
    blocks: Sequence[Block], ranks: Sequence[float], rows: Sequence[int], interest: Interest
) -> list[float | None]:
    """Return what each block is worth to a reader; None for one that was shown before, on this page or on others."""
    starts = tuple(start for start in (_strip_words(line)[:_START] for line in interest.shown) if start)
    known, lines = interest.known, interest.lines
    menu = name_menu_lines(blocks)
    points: list[float | None] = []
    bars: set[str] = set()
    in_main = 0
    for place, (block, rank) in enumerate(zip(blocks, ranks, strict=True)):
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
        is_known = rank < _ASKED and menu[place] in known
        points.append(None if is_repeated or is_known else worth)
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


def _lay_out(blocks: Sequence[Block], texts: Sequence[str], taken: set[int], page_of: Callable[[int], int]) -> Pruned:
    """Write the places that are taken, and describe each stretch between them; a stretch as short as that is shown."""
    lines: list[str] = []
    is_cut = False
    for is_taken, run in groupby(range(len(blocks)), key=taken.__contains__):
        places = list(run)
        own = [indent(blocks[place], texts[place]) for place in places]
        if is_taken or (len(own) < _GAP and cost_of(own) <= _GAP):
            lines += own
        else:
            lines.append(_describe_gap([blocks[place] for place in places], page_of(places[0])))
            is_cut = True
    return tuple(lines), is_cut


def cost_of(lines: Iterable[str]) -> int:
    """Return the o200k tokens of lines, each with its end."""
    return sum(count(line) + 1 for line in lines)


def _describe_gap(gap: Sequence[Block], page: int) -> str:
    """Describe a stretch that is cut, and say where it is read: rows of one table or list, else lines, links and
    controls; with its headings.
    """
    headings = [block for block in gap if block.level]
    headings = [block for block in headings if block.region in MAIN] or headings
    top = min((block.level for block in headings), default=0)
    titles = list_some([cut(block.section, LONGEST_NAME) for block in headings if block.level == top])
    named = f": {titles}" if titles else ""
    group = gap[0].group
    if group is not None and group.ref is not None and all(block.group == group for block in gap):
        return f"… {counted(len(gap), f'more {group.kind}')}{named} (read [{group.ref}])"
    numbers = {"link": sum(block.links for block in gap), "control": sum(block.controls for block in gap)}
    parts = [counted(len(gap), "line"), *(counted(number, name) for name, number in numbers.items() if number)]
    return f"… {', '.join(parts)}{named} (read page {page})"


def list_some(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" +{len(names) - _CUT_HEADINGS}" if len(names) > _CUT_HEADINGS else ""
    return "; ".join(names[:_CUT_HEADINGS]) + more


def _cut_texts(blocks: Sequence[Block], ranks: Sequence[float], need: str, budget: int) -> list[str]:
    """Return the text of each block: all of it if the page fits the budget, else no more than one line may cost."""
    room = budget
    for block in blocks:
        room -= count(block.text) + 1 if room > 0 else 0
    if room >= 0:
        return [block.text for block in blocks]
    return [_cut_text(block, need if rank >= _ASKED else "") for block, rank in zip(blocks, ranks, strict=True)]


def _cut_text(block: Block, need: str) -> str:
    """Return a block's text; of a long text its beginning, or the part that holds the need, and where the rest is."""
    text = cut_around(block.text, terms(need), _LONG_ASKED if need or block.controls > 1 else _LONG)
    return text if text == block.text else f"{text}(cut: read {f'[{block.ref}]' if block.ref else 'the page'})"
