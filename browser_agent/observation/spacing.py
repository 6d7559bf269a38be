"""Puts spaces between the words of a page's lines where its document has them."""

# A snapshot tells each piece of a line apart, and not whether a space stood between them: `queue.` and `Empty` are one name. The document's own lines say.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import REF, clean
from browser_agent.observation.values import Section

__all__ = ["respace"]


def respace(blocks: Sequence[Block], sections: Iterable[Section]) -> tuple[Block, ...]:
    """`blocks` with the spaces of the document's lines, where a line has the same letters."""
    lines = {_squashed(line): line for line in _lines(sections) if " " in line or len(line) > 1}
    return tuple(_respaced(block, lines) for block in blocks)


def _lines(sections: Iterable[Section]) -> Iterable[str]:
    for section in sections:
        for text in (section.title, section.text):
            yield from (clean(line) for line in text.split("\n"))


def _respaced(block: Block, lines: Mapping[str, str]) -> Block:
    text, section = _as_in(block.text, lines), _as_in(block.section, lines)
    return block if text == block.text and section == block.section else replace(block, text=text, section=section)


def _as_in(text: str, lines: Mapping[str, str]) -> str:
    """`text` with the spaces of the line that has its letters; as it is where none has."""
    lead = len(text) - len(text.lstrip("#- "))
    plain = REF.sub("", text[lead:])
    line = lines.get(_squashed(plain))
    return text if line is None or line == plain else text[:lead] + _laid_on(text[lead:], line)


def _laid_on(text: str, line: str) -> str:
    """The letters and refs of `text` with the spaces of `line`, which has the same letters. Numbers of two elements stay apart: `1` and a link `2` are no `12`."""
    made: list[str] = []
    at = 0
    last, gap = "", False
    for place, part in enumerate(REF.split(text)):
        if place % 2:
            made.append(f"[{part}]")
            continue
        for letter in part:
            if letter.isspace():
                gap = True
                continue
            spaced = at < len(line) and line[at].isspace()
            if spaced or (gap and last.isdigit() and letter.isdigit()):
                made.append(" ")
            made.append(letter)
            at += 1 + spaced
            last, gap = letter, False
    return "".join(made)


def _squashed(text: str) -> str:
    return "".join(text.split())
