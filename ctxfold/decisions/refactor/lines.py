"""Which lines of a stretch stay when it is folded because of what repeats in it, or because a text tells of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.log.lines import Line
from ctxfold.view.pieces import above, values_in
from ctxfold.workspace.workspace import Block

__all__ = ["without_repeats", "without_told"]

_FENCES = re.compile(r"^<<[^\n]+\n|\n\S+>>$")
_READ = 200_000


def without_repeats(blocks: Sequence[Block], repeats: frozenset[int]) -> tuple[Line, ...]:
    """The lines of blocks, less what repeating steps say again: no value goes that stands nowhere else among them."""
    lines = [line for block in blocks for line in block.lines]
    told, said, kept = set[str](), set[str](), set[int]()
    for at, line in enumerate(lines):
        body = _body(line)
        stays = _step_of(line) not in repeats or line.kind in ("user", "note")
        if stays or values_in(line.text[:_READ]) - told or (line.kind in ("data", "text") and body not in said):
            kept.add(at)
            told |= values_in(line.text[:_READ])
            said.add(body)
    return _with_needed(lines, kept)


def without_told(blocks: Sequence[Block], text: str) -> tuple[Line, ...]:
    """The lines of blocks that stay beside a text: the user's words, notes, and each row with a value that the text does not say."""
    said = values_in(text)
    lines = [line for block in blocks for line in block.lines]
    kept: set[int] = set()
    for at, line in enumerate(lines):
        values = values_in(line.text)
        if line.kind in ("user", "note") or (line.kind == "data" and values - said):
            said |= values
            kept.add(at)
    return _with_needed(lines, kept)


def _step_of(line: Line) -> int:
    """The step a line's record belongs to; 0 for a line of a tile's own."""
    number = line.ref.removeprefix("s").partition(".")[0]
    return int(number) if number.isdecimal() else 0


def _body(line: Line) -> str:
    """What a line says, without its marks and its address."""
    return " ".join(_FENCES.sub("", line.text).lstrip("<> ").split())


def _with_needed(lines: Sequence[Line], kept: set[int]) -> tuple[Line, ...]:
    """The kept lines with those that they cannot be read without."""
    needed = above(lines)
    every = kept | {place for at in kept for place in needed[at]}
    return tuple(line for at, line in enumerate(lines) if at in every)
