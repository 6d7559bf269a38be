"""Chooses the blocks of a page to show within a budget, and writes a line for each stretch left out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from browser_agent.observation.before import NOTHING_BEFORE, Before, name_all
from browser_agent.observation.blocks import Block, Group, leads
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from browser_agent.observation.values import Cut
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

_WHOLE = 0.55
"""A page that takes no more of the budget is shown as it is."""
_SHARE = 0.51
"""How much of the budget goes to what the page itself puts first; the rest only to what the task asks for."""
_SMALL_TABLE = 12
"""So many rows come with the head or the caption of their table."""
_HALF = 0.5
"""A line is asked for that names so much of what the line with most of it does."""
_CLEAR, _NEARLY = 0.6, 0.75
"""Where a line names so much of what is needed, those are asked for that name nearly as much."""
_CLEAR_SHARE = 0.3
"""How much then goes to what the page puts first."""

_LONG = 130
_LONG_WANTED = 260
_GAP = 16
_MARKER = 10
_INNER = frozenset({"main", "body", "dialog"})
_NAMES = 3
_NAME = 48
_LEADING = 5
_AGAIN = 100.0
"""What a line loses that stands on the page already, or stood on pages of the site before."""
_FRESH = 6.0
"""What a line gains that an action brought."""
_ROWS = 12
"""So many rows of the page's main table or list come before its filters, and before what stands around it."""
_FEWEST_ROWS = 4
_ROWS_SHARE = 0.3
"""What share of the main part a table or list takes that is what the page is about."""
_START = 24
_NO_WORDS = re.compile(REF.pattern + r"|\b(?:button|link|checkbox|textbox)\b|[\W_]+")

_REGION = {"dialog": 12.0, "main": 5.0, "body": 4.5, "search": 4.5, "header": 2.5, "nav": 2.0, "aside": 1.5,
           "footer": 0.5}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pruned:
    """The lines to show, and what was cut between them."""

    lines: tuple[str, ...]
    cut: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class Interest:
    """What this look is for: `need` in the task's words, `shown`, starts of the lines on screen after a scroll, and what the reader has seen `before`."""

    need: str = ""
    shown: tuple[str, ...] = ()
    before: Before = NOTHING_BEFORE


def prune(blocks: Sequence[Block], interest: Interest, budget: int, page_of: Callable[[int], int]) -> Pruned:
    """Choose blocks. `page_of`: the page a block stands on when the whole is read.

    Returns:
        Chosen blocks in page order, with a line for each stretch cut. Where even that does not fit, fewer, down to one
        line that says what there is.
    """
    wanted = _wanted(blocks, interest.need)
    scores = _scores(blocks, wanted, interest)
    texts = _fitting(blocks, wanted, interest.need, budget)
    costs = [count(text) + 1 for text in texts]
    if sum(costs) <= budget * _WHOLE and min(scores, default=0.0) > -_AGAIN / 2:
        return _lay_out(blocks, texts, set(range(len(blocks))), page_of)
    ranked = sorted((i for i in range(len(blocks)) if scores[i] > -_AGAIN / 2), key=lambda i: (-scores[i], i))
    rows = _main_rows(blocks) if interest.need else frozenset()
    asked_for = _with_rows(blocks, _asked_for(wanted)) | rows
    clear = max(wanted, default=0.0) >= _CLEAR and not rows
    taken = _take(ranked, costs, asked_for, budget, _CLEAR_SHARE if clear else _SHARE)
    by_worth = [i for i in ranked if i in taken]
    above = leads(blocks)
    while True:
        chosen = set(by_worth)
        chosen |= {lead for i in chosen if (lead := above[i]) is not None}  # a note never without its entry
        laid = _lay_out(blocks, texts, _without_small_gaps(chosen, costs), page_of)
        over = count("\n".join(laid.lines)) - budget
        if over <= 0 or not by_worth:
            return laid
        while over > 0 and by_worth:
            over -= costs[by_worth.pop()]


def _wanted(blocks: Sequence[Block], need: str) -> list[float]:
    """For each block, 0 to 1: how much of what is needed it names, rare words weighing more, its heading's included."""
    asked = terms(need)
    if not asked:
        return [0.0] * len(blocks)
    texts = [block.text.lower() for block in blocks]
    sections = {block.section: block.section.lower() for block in blocks}
    weight = {word: math.log((1 + len(texts)) / (1 + sum(word in text for text in texts))) for word in asked}
    whole = sum(weight.values()) or 1.0
    under = {section: sum(weight[word] for word in asked if word in text) / whole for section, text in sections.items()}
    found = [sum(weight[word] for word in asked if word in text) / whole for text in texts]
    return [min(1.0, own + 0.5 * under[block.section]) for own, block in zip(found, blocks, strict=True)]


def _scores(blocks: Sequence[Block], wanted: Sequence[float], interest: Interest) -> list[float]:
    scores: list[float] = []
    starts = tuple(start for start in (_bare(line)[:_START] for line in interest.shown) if start)
    known, lines = interest.before.known, interest.before.lines
    seen_main = 0
    rows = sorted(_main_rows(blocks))[:_ROWS]
    again: set[str] = set()
    names = name_all(blocks) if known else ()
    for i, (block, want) in enumerate(zip(blocks, wanted, strict=True)):
        score = _REGION.get(block.region, 4.0) + 9.0 * want
        if block.level:
            score += {1: 3.0, 2: 1.6}.get(block.level, 0.6)
        if block.controls:
            score += 2.5
        if block.region in {"main", "body"}:
            score += 2.5 * math.exp(-seen_main / 12)
            seen_main += 1
        if block.controls and (bare := _bare(block.text)):  # such as a search field at both ends of a page
            score -= _AGAIN if bare in again else 0.0
            again.add(bare)
        if starts and _bare(block.text).startswith(starts):
            score += 5.0
        elif i in rows:
            score += 3.0
        elif block.group is not None and not block.head:
            score -= min(4.0, 0.45 * max(0, block.row - _LEADING))
        if known and not want and names[i] in known:
            score -= _AGAIN
        if lines is not None and block.text not in lines:
            score += _FRESH
        scores.append(score)
    return scores


def _bare(text: str) -> str:
    """The words of a line alone, so that a line of the snapshot and the same line of the document compare."""
    return " ".join(_NO_WORDS.sub(" ", text).lower().split())


def _asked_for(wanted: Sequence[float]) -> frozenset[int]:
    """The blocks that name most of what is needed."""
    most = max(wanted, default=0.0)
    threshold = most * (_NEARLY if most >= _CLEAR else _HALF)
    return frozenset(i for i, want in enumerate(wanted) if threshold > 0 and want >= threshold)


def _main_rows(blocks: Sequence[Block]) -> frozenset[int]:
    """The rows of the largest table or list of the main part; none where it has but a few."""
    rows: dict[int, list[int]] = {}
    for i, block in enumerate(blocks):
        if block.group is not None and block.region in _INNER and not block.indent:
            rows.setdefault(block.group.id, []).append(i)
    most = max(rows.values(), key=len, default=[])
    main = sum(block.region in _INNER for block in blocks)
    return frozenset(most) if len(most) >= max(_FEWEST_ROWS, main * _ROWS_SHARE) else frozenset()


def _with_rows(blocks: Sequence[Block], asked_for: frozenset[int]) -> frozenset[int]:
    """These blocks, and the rows of each small table whose head or caption is among them."""
    tables: dict[Group, list[int]] = {}
    for i, block in enumerate(blocks):
        if block.group is not None and block.group.kind == "row":
            tables.setdefault(block.group, []).append(i)
    small = [(group, rows) for group, rows in tables.items() if len(rows) <= _SMALL_TABLE + 1]
    heads = [[i for i in rows if blocks[i].head] + ([rows[0] - 1] if group.name else []) for group, rows in small]
    meant = (rows for (_, rows), above in zip(small, heads, strict=True) if asked_for.intersection(above))
    return asked_for.union(*meant)


def _take(
    ranked: Sequence[int], costs: Sequence[int], asked_for: frozenset[int], budget: int, common: float
) -> set[int]:
    """The best blocks, as many as fit: the first, more up to the common share, and beyond it those the task asks for."""
    taken: set[int] = set()
    spent = 0
    for i in ranked:
        cost = costs[i] + _MARKER * (1 - (i - 1 in taken) - (i + 1 in taken))  # it splits a gap, shortens or closes it
        if spent + cost <= budget * (1 if i in asked_for or not taken else common):
            taken.add(i)
            spent += cost
    return taken


def _without_small_gaps(taken: set[int], costs: Sequence[int]) -> set[int]:
    """Also take a gap that costs no more than the line that would stand for it."""
    filled = set(taken)
    gap: list[int] = []
    for i in range(len(costs)):
        if i in taken:
            if gap and sum(costs[j] for j in gap) <= _GAP:
                filled.update(gap)
            gap = []
        else:
            gap.append(i)
    return filled


def _lay_out(blocks: Sequence[Block], texts: Sequence[str], taken: set[int], page_of: Callable[[int], int]) -> Pruned:
    lines: list[str] = []
    cuts: list[Cut] = []
    gap: list[int] = []

    def close_gap() -> None:
        if gap:
            missing = _missing([blocks[j] for j in gap], page_of(gap[0]))
            cuts.append(missing)
            lines.append(_format_cut(missing))
            gap.clear()

    for i, text in enumerate(texts):
        if i in taken:
            close_gap()
            lines.append(" " * min(blocks[i].indent, 4) + text)
        else:
            gap.append(i)
    close_gap()
    return Pruned(tuple(lines), tuple(cuts))


def _missing(gap: Sequence[Block], page: int) -> Cut:
    """What a stretch that is cut holds, in our words and a few of its headings."""
    groups = {block.group for block in gap}
    group: Group | None = next(iter(groups)) if len(groups) == 1 else None
    if group is not None and group.ref is not None:
        return Cut(what=f"{counted(len(gap), f'more {group.kind}')}{_name_headings(gap)}", ref=group.ref, page=page)
    links = sum(block.links for block in gap)
    controls = sum(block.controls for block in gap)
    parts = [counted(len(gap), "line"), *([counted(links, "link")] if links else [])]
    parts += [counted(controls, "control")] if controls else []
    return Cut(what=", ".join(parts) + _name_headings(gap), page=page)


def _name_headings(gap: Sequence[Block]) -> str:
    headings = [block for block in gap if block.level]
    inner = [block for block in headings if block.region in _INNER] or headings
    top = min((block.level for block in inner), default=0)
    titles = [cut(block.section, _NAME) for block in inner if block.level == top]
    if not titles:
        return ""
    more = f" +{len(titles) - _NAMES}" if len(titles) > _NAMES else ""
    return ": " + "; ".join(titles[:_NAMES]) + more


def _format_cut(missing: Cut) -> str:
    where = f"read [{missing.ref}]" if missing.ref else f"read page {missing.page}"
    return f"… {missing.what} ({where})"


def _fitting(blocks: Sequence[Block], wanted: Sequence[float], need: str, budget: int) -> list[str]:
    """The text of each block: as it is where the page fits as a whole, else no longer than one line may be."""
    room = budget
    for block in blocks:
        room -= count(block.text) + 1 if room > 0 else 0
    if room >= 0:
        return [block.text for block in blocks]
    return [_shortened(block, wanted[i] > 0, need) for i, block in enumerate(blocks)]


def _shortened(block: Block, wanted: bool, need: str) -> str:
    """A block's text, or as much of it as one line may cost, the needed words within it if it has them."""
    most = _LONG_WANTED if wanted or block.controls > 1 else _LONG
    if len(block.text) <= most * 2 or count(block.text) <= most:
        return block.text
    place = f" [{block.ref}]" if block.ref else ""
    start = first_mention(block.text, terms(need)) if wanted else 0
    if start > most * 3:
        lead = trim_torn_ref(head(block.text, most // 4))
        part = trim_torn_ref(head(block.text[block.text.rfind(" ", 0, start - 80) + 1 :], most - most // 4))
        return f"{lead} … {part} …(cut: read{place or ' the page'})"
    return f"{trim_torn_ref(head(block.text, most))} …(cut: read{place or ' the page'})"
