"""Chooses the lines that stay beside a written summary: the user's words, notes, and values in use that the summary leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxfold.log.lines import Line
from ctxfold.view.choose import shortened
from ctxfold.view.headings import above
from ctxfold.view.pieces import pieces_of, values_in
from ctxfold.view.show import unkept
from ctxfold.view.stretch import HEAD, Chosen, Stretch
from ctxfold.workspace.intent import Intent
from ctxfold.workspace.workspace import Block

__all__ = ["in_force", "kept_beside", "values_of", "values_said"]


def values_of(lines: Iterable[Line]) -> set[str]:
    """What of lines has to be exact to be of use, lower case."""
    return {value for line in lines for piece in pieces_of(line) for value, _ in piece.values if len(value) > 1}


def values_said(text: str) -> set[str]:
    """The same of a text, whatever its length."""
    return {value for row in text.splitlines() for value in values_in(row)}


def in_force(blocks: Sequence[Block], naming: Sequence[Block], intent: Intent) -> set[str]:
    """The values with a digit of a stretch that are in use: somebody named them, or an open item or a constraint holds them.

    Args:
        blocks: the stretch.
        naming: the blocks whose calls and words name values.
        intent: the register.
    """
    named = values_of(
        line
        for block in naming
        for line in block.lines
        if line.kind in ("user", "say") or (line.kind == "call" and not line.depth)
    )
    for text in (*(item.text for item in intent.open), *(each.text for each in intent.binding)):
        named |= values_said(text)
    named = {value for value in named if any(map(str.isdigit, value))}
    return named & values_of(line for block in blocks for line in block.lines if line.kind in ("call", "data", "text"))


def kept_beside(
    blocks: Sequence[Block], summary: str, needed: set[str], lifted: frozenset[str] = frozenset()
) -> tuple[Line, ...]:
    """The lines of blocks that stay beside a summary, shortened to what they stay for.

    Args:
        blocks: a contiguous stretch in path order.
        summary: what is written in its place.
        needed: the values that must stand: in the summary, or else in the first line that holds them, with the call it answers.
        lifted: the addresses of findings that hold no more.
    """
    lines = [line for block in blocks for line in unkept(block.lines, lifted)]
    whole = [line.kind in ("user", "note") for line in lines]
    said = summary.lower()
    left = {value for value in needed - values_said(summary) if value not in said}
    left -= values_of(line for line, stays in zip(lines, whole, strict=True) if stays)
    needs = above(lines)
    kept: list[set[int]] = [{0} if stays else set() for stays in whole]
    for at, line in enumerate(lines):
        if whole[at] or line.kind not in ("call", "data", "text"):
            continue
        for place, piece in enumerate(pieces_of(line)):
            values = {value for value, _ in piece.values}
            if not left.isdisjoint(values):
                left -= values
                kept[at].add(place)
        for place in needs[at] if kept[at] else ():
            kept[place] |= set() if kept[place] else {0 if lines[place].kind == "call" else HEAD}
    chosen = Chosen(tuple(tuple(sorted(each)) for each in kept), 0)
    return tuple(shortened(Stretch(lines, [0] * len(lines), whole), chosen))
