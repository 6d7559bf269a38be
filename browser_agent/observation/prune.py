"""Chooses the blocks of a page to show within a budget, and writes a line for each stretch left out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from browser_agent.observation.blocks import Block, Group
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from browser_agent.observation.values import Cut
from ctxfold.tokens import count, head

_SHARE = 0.55
"""How much of the budget goes to what the page itself puts first; the rest only to what the task asks for."""
_ASKED_SHARE = 0.9

_LONG = 130
_LONG_WANTED = 260
_GAP = 16
_MARKER = 10
_INNER = frozenset({"main", "body", "dialog"})
_NAMES = 3
_NAME = 48
_STEP = 0.15
_LEADING = 5
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
    """What this look is for: `need` in the task's words, and `shown`, starts of the lines on screen after a scroll."""

    need: str = ""
    shown: tuple[str, ...] = ()


def prune(blocks: Sequence[Block], interest: Interest, budget: int, page_of: Callable[[int], int]) -> Pruned:
    """Choose blocks.

    Args:
        blocks: the page, in order.
        interest: what to put first.
        budget: the most the lines may cost together, in o200k tokens.
        page_of: the page a block stands on when the whole is read.

    Returns:
        Chosen blocks in page order, with a line for each stretch cut. Where even that does not fit, fewer, down to one
        line that says what there is.
    """
    wanted = _wanted(blocks, interest.need)
    scores = _scores(blocks, wanted, interest.shown)
    texts = [_shortened(block, wanted[i] > 0, interest.need) for i, block in enumerate(blocks)]
    costs = [count(text) + 1 for text in texts]
    if sum(costs) <= budget * _SHARE:
        return _lay_out(blocks, texts, set(range(len(blocks))), page_of)
    ranked = sorted(range(len(blocks)), key=lambda i: (-scores[i], i))
    taken = _take(ranked, costs, wanted, budget)
    by_worth = [i for i in ranked if i in taken]
    while True:
        laid = _lay_out(blocks, texts, _without_small_gaps(set(by_worth), costs), page_of)
        if count("\n".join(laid.lines)) <= budget or not by_worth:
            return laid
        by_worth = by_worth[: int(len(by_worth) * (1 - _STEP))]


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


def _scores(blocks: Sequence[Block], wanted: Sequence[float], shown: tuple[str, ...]) -> list[float]:
    scores: list[float] = []
    starts = tuple(start for start in (_bare(line)[:_START] for line in shown) if start)
    seen_main = 0
    for block, want in zip(blocks, wanted, strict=True):
        score = _REGION.get(block.region, 4.0) + 9.0 * want
        if block.level:
            score += {1: 3.0, 2: 1.6}.get(block.level, 0.6)
        if block.controls:
            score += 2.5
        if block.region in {"main", "body"}:
            score += 2.5 * math.exp(-seen_main / 12)
            seen_main += 1
        if starts and _bare(block.text).startswith(starts):
            score += 5.0
        elif block.group is not None and not block.head:
            score -= min(4.0, 0.45 * max(0, block.row - _LEADING))
        scores.append(score)
    return scores


def _bare(text: str) -> str:
    """The words of a line alone, so that a line of the snapshot and the same line of the document compare."""
    return " ".join(_NO_WORDS.sub(" ", text).lower().split())


def _take(ranked: Sequence[int], costs: Sequence[int], wanted: Sequence[float], budget: int) -> set[int]:
    """The best blocks, as many as fit: up to the common share, and beyond it those the task asks for."""
    taken: set[int] = set()
    spent = 0
    threshold = max(wanted, default=0.0) * 0.5
    for i in ranked:
        asked_for = threshold > 0 and wanted[i] >= threshold
        cost = costs[i] + (0 if i - 1 in taken else _MARKER)
        if spent + cost <= budget * (_ASKED_SHARE if asked_for else _SHARE):
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
        return Cut(what=f"{_plural(len(gap), f'more {group.kind}')}{_name_headings(gap)}", ref=group.ref, page=page)
    links = sum(block.links for block in gap)
    controls = sum(block.controls for block in gap)
    parts = [_plural(len(gap), "line"), *([_plural(links, "link")] if links else [])]
    parts += [_plural(controls, "control")] if controls else []
    return Cut(what=", ".join(parts) + _name_headings(gap), page=page)


def _plural(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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


def _shortened(block: Block, wanted: bool, need: str) -> str:
    """A block's text, or as much of it as one line may cost, the needed words within it if it has them."""
    most = _LONG_WANTED if wanted or block.controls else _LONG
    if len(block.text) <= most * 2 or count(block.text) <= most:
        return block.text
    place = f" [{block.ref}]" if block.ref else ""
    start = first_mention(block.text, terms(need)) if wanted else 0
    if start > most * 3:
        lead = trim_torn_ref(head(block.text, most // 4))
        part = trim_torn_ref(head(block.text[block.text.rfind(" ", 0, start - 80) + 1 :], most - most // 4))
        return f"{lead} … {part} …(cut: read{place or ' the page'})"
    return f"{trim_torn_ref(head(block.text, most))} …(cut: read{place or ' the page'})"
