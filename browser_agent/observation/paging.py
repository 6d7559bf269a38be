"""A page in full, in pages of a token budget, and the places of it that hold some words. Pure; it drops nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import COMMON, cut, terms
from ctxfold.tokens import count, head

_REF = re.compile(r"\[(?:f\d+)?e\d+\]")
_LEAST = 24
_SECTION = 80
_HIT = 90


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a text, each a tuple of lines; `starts` is the first block on each, counted from 0."""

    pages: tuple[tuple[str, ...], ...]
    starts: tuple[int, ...]

    def page_of(self, block: int) -> int:
        """The page, counted from 1, that block number `block` (from 0) begins on."""
        return max(1, bisect_right(self.starts, block))


def paginate(blocks: Sequence[Block], budget: int) -> Pages:
    """Split a page's blocks into pages.

    Args:
        blocks: in order.
        budget: the most one page may cost, in o200k tokens.

    Returns:
        At least one page. Every block is on one whole, or on several if it is larger than a page; no ref is torn.
    """
    room = max(budget, _LEAST)
    pages: list[tuple[str, ...]] = []
    starts: list[int] = []
    lines: list[str] = []
    spent = 0
    for number, block in enumerate(blocks):
        text = " " * min(block.indent, 4) + block.text
        for part in [text] if len(text) < room // 4 else _parts(text, room):
            cost = count(part) + 1
            if lines and spent + cost > room:
                pages.append(tuple(lines))
                lines, spent = [], 0
            if not lines:
                starts.append(number)
                lead = _context(block) if pages else ""
                if lead and cost + count(lead) + 1 <= room:
                    lines.append(lead)
                    spent += count(lead) + 1
            lines.append(part)
            spent += cost
    pages.append(tuple(lines))
    return Pages(tuple(pages), tuple(starts or [0]))


def _context(block: Block) -> str:
    return f"(in: {cut(block.section, _SECTION)})" if block.section and not block.level else ""


def _parts(text: str, room: int) -> list[str]:
    """`text` in parts of less than `room` tokens, cut between words and never within a ref."""
    parts: list[str] = []
    most = room - 2
    while text:
        part = head(text, most)
        if len(part) < len(text):
            torn = part.rfind("[")
            if torn > 0 and _REF.match(text, torn) and "]" not in part[torn:]:
                part = part[:torn]
            part = part or text[: max(1, most // 4)]
        parts.append(part.strip())
        text = text[len(part) :].lstrip()
    return [part for part in parts if part]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search of one page gave: the lines to show, how many hits those are, and how many there were."""

    lines: tuple[str, ...]
    shown: int
    total: int


def find(blocks: Sequence[Block], query: str, budget: int, pages: Pages) -> Found:
    """Find the blocks that hold `query`, else all its words, else any.

    Args:
        blocks: the page, in order.
        query: words, or a phrase.
        budget: the most the lines may cost together, in o200k tokens.
        pages: the same blocks in pages, to say where a hit stands.

    Returns:
        Hits in page order under their headings, as many as fit.
    """
    hits = _hits(blocks, query)
    lines: list[str] = []
    spent = 0
    section: str | None = None
    shown = 0
    for number in hits:
        block = blocks[number]
        part = [f"§ {cut(block.section, _SECTION)} (page {pages.page_of(number)})"] if block.section != section else []
        part.append(_around(block.text, query))
        cost = sum(count(line) + 1 for line in part)
        if spent + cost > budget:
            break
        lines.extend(part)
        spent += cost
        section = block.section
        shown += 1
    return Found(tuple(lines), shown, len(hits))


def _hits(blocks: Sequence[Block], query: str) -> list[int]:
    phrase = " ".join(query.lower().split())
    texts = [_REF.sub("", block.text).lower() for block in blocks]
    hits = [i for i, text in enumerate(texts) if phrase in text]
    if hits:
        return hits
    words = (terms(query) - COMMON) or terms(query)
    matched = [sum(word in text for word in words) for text in texts]
    best = max(matched, default=0)
    return [i for i, n in enumerate(matched) if n and n >= min(best, len(words))]


def _around(text: str, query: str) -> str:
    """The part of `text` around what was found in it."""
    if len(text) <= _HIT * 4 and count(text) <= _HIT:
        return text
    lower = text.lower()
    places = [lower.find(" ".join(query.lower().split())), *(lower.find(word) for word in terms(query) - COMMON)]
    at = min((place for place in places if place >= 0), default=0)
    start = text.rfind(" ", 0, max(0, at - 120)) + 1 if at > 160 else 0
    part = head(text[start:], _HIT)
    torn = part.rfind("[")
    if torn >= 0 and "]" not in part[torn:]:
        part = part[:torn]
    return ("… " if start else "") + part.rstrip() + (" …" if start + len(part) < len(text) else "")
