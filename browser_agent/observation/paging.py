"""Splits a long page into parts of a token budget, and finds the places in it that hold some words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from ctxfold.tokens import count, head

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
            part = trim_torn_ref(part) or text[: max(1, most // 4)]
        parts.append(part.strip())
        text = text[len(part) :].lstrip()
    return [part for part in parts if part]


def find(blocks: Sequence[Block], query: str, budget: int, pages: Pages) -> tuple[str, ...]:
    """Find the blocks that hold `query`, else all its words, else any.

    Args:
        blocks: the page, in order.
        query: words, or a phrase.
        budget: the most the lines may cost together, in o200k tokens.
        pages: the same blocks in pages, to say where a hit stands.

    Returns:
        How many places are shown of how many, then these in page order under their headings; nothing where there is none.
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
    return (f"{shown} of {len(hits)} places", *lines) if hits else ()


def _hits(blocks: Sequence[Block], query: str) -> list[int]:
    phrase = " ".join(query.lower().split())
    texts = [REF.sub("", block.text).lower() for block in blocks]
    hits = [i for i, text in enumerate(texts) if phrase in text]
    if hits:
        return hits
    words = terms(query)
    matched = [sum(word in text for word in words) for text in texts]
    return [i for i, n in enumerate(matched) if n and n == max(matched)]


def _around(text: str, query: str) -> str:
    """The part of `text` around what was found in it."""
    if len(text) <= _HIT * 4 and count(text) <= _HIT:
        return text
    at = text.lower().find(" ".join(query.lower().split()))
    at = at if at >= 0 else first_mention(text, terms(query))
    start = text.rfind(" ", 0, max(0, at - 120)) + 1 if at > 160 else 0
    part = trim_torn_ref(head(text[start:], _HIT))
    return ("… " if start else "") + part + (" …" if start + len(part) < len(text) else "")
