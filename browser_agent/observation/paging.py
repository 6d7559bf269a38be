"""Splits a long page into parts of a token budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import cut, trim_torn_ref
from ctxfold.tokens import count, head

_LEAST = 24
_SECTION = 80


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a text, each a tuple of lines; `starts` is the first block on each, counted from 0."""

    pages: tuple[tuple[str, ...], ...]
    starts: tuple[int, ...]

    def page_of(self, block: int) -> int:
        """The page, counted from 1, that block number `block` (from 0) begins on."""
        return max(1, bisect_right(self.starts, block))

    def numbered(self, numbers: Sequence[int]) -> Pages:
        """The same pages of a choice of blocks: `numbers` says which each is in the whole, from the first on."""
        return Pages(self.pages, tuple(numbers[start] for start in self.starts) if numbers else self.starts)


def paginate(blocks: Sequence[Block], budget: int) -> Pages:
    """Split a page's blocks into pages. `budget`: o200k tokens of one page. Returns at least one page. Every block is on one whole, or on several if it is larger than a page; no ref is torn."""
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


def fitting(lines: Sequence[str], room: int) -> tuple[str, ...]:
    """The first of some lines that cost no more than `room` o200k tokens together."""
    fits: list[str] = []
    for line in lines:
        room -= count(line) + 1
        if room < 0:
            break
        fits.append(line)
    return tuple(fits)


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
