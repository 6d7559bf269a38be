"""Which lines of a stretch stay when it is folded because of what repeats in it, or because a text tells of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.decisions.fold.consolidate import pinned_in
from ctxfold.log.compact.ditto import spelled
from ctxfold.log.compact.prose import values
from ctxfold.log.lines import Line
from ctxfold.workspace.workspace import Block, Workspace

__all__ = ["body", "points_only", "step_of", "without_repeats", "without_told"]

_FENCES = re.compile(r"^<<[^\n]+\n|\n\S+>>$")
_READ = 200_000


def without_repeats(workspace: Workspace, blocks: Sequence[Block], repeats: frozenset[int]) -> tuple[Line, ...]:
    """The lines of blocks, less what repeating steps say again: no value goes that stands nowhere else among them.

    Args:
        workspace: where they stand.
        blocks: a contiguous stretch in path order.
        repeats: the steps that repeat others.

    Returns:
        Kept lines in their order, as they stood; rows of tables with their cells written out.
    """
    pinned = pinned_in(workspace, blocks)
    lines = spelled([line for block in blocks for line in block.lines])
    told, said, kept = set[str](), set[str](), set[int]()
    for at, line in enumerate(lines):
        stays = step_of(line) not in repeats or line.kind in ("user", "note") or not pinned.isdisjoint(line.keys)
        if stays or _brings_something(line, told, said):
            kept.add(at)
            told |= values(line.text[:_READ])
            said.add(body(line))
    return _with_needed(lines, kept)


def without_told(workspace: Workspace, blocks: Sequence[Block], text: str) -> tuple[Line, ...]:
    """The lines of blocks that stay beside a text: what every fold keeps, and each row with a value that the text does not say."""
    pinned = pinned_in(workspace, blocks)
    said = values(text)
    lines = spelled([line for block in blocks for line in block.lines])
    kept: set[int] = set()
    for at, line in enumerate(lines):
        row = line.kind == "data" and bool(values(line.text) - said)
        if row or line.kind in ("user", "note") or not pinned.isdisjoint(line.keys):
            said |= values(line.text)
            kept.add(at)
    return _with_needed(lines, kept)


def step_of(line: Line) -> int:
    """The step a line's record belongs to; 0 for a line of a tile's own."""
    number = line.ref.removeprefix("s").partition(".")[0]
    return int(number) if number.isdecimal() else 0


def body(line: Line) -> str:
    """What a line says, without its marks and its address."""
    return " ".join(_FENCES.sub("", line.text).lstrip("<> ").split())


def points_only(line: Line) -> bool:
    """Whether a line shows no value of its own: all it says stands at lines before it."""
    return bool(line.points) and not line.keys


def _brings_something(line: Line, told: set[str], said: set[str]) -> bool:
    if points_only(line):
        return False
    if values(line.text[:_READ]) - told:
        return True
    return line.kind in ("data", "text") and body(line) not in said


def _with_needed(lines: Sequence[Line], kept: set[int]) -> tuple[Line, ...]:
    """The kept lines with the rows that they stand under and those they point at; `kept` grows by these."""
    places = {key: at for at in range(len(lines) - 1, -1, -1) for key in lines[at].keys}
    todo = sorted(kept)
    while todo:
        at = todo.pop()
        line = lines[at]
        needed = [places[key] for key in line.points if key in places and places[key] < at]
        if line.kind in ("data", "call") and line.indent > 2:
            needed += _above(lines, at)
        fresh = [each for each in needed if each not in kept]
        kept.update(fresh)
        todo += fresh
    return tuple(line for at, line in enumerate(lines) if at in kept)


def _above(lines: Sequence[Line], at: int) -> list[int]:
    """The row that a row stands under."""
    for before in range(at - 1, -1, -1):
        if lines[before].ref != lines[at].ref:
            break
        if lines[before].indent < lines[at].indent:
            return [before]
    return []
