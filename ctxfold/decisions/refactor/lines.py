"""Chooses which lines stay when a stretch is folded because of what repeats in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.decisions.fold.beside import values_of
from ctxfold.log.lines import Line
from ctxfold.log.refs import place_of
from ctxfold.view.headings import above
from ctxfold.workspace.workspace import Block

__all__ = ["without_repeats"]

_FENCES = re.compile(r"^<<[^\n]+\n|\n\S+>>$")


def without_repeats(blocks: Sequence[Block], repeats: frozenset[int], before: Sequence[Block] = ()) -> tuple[Line, ...]:
    """The lines of blocks, less what repeating steps say again: no value goes that stands nowhere else among them, or before them."""
    lines = [line for block in blocks for line in block.lines]
    standing = [line for block in before for line in block.lines]
    told, said, kept = values_of(standing), {_body(line) for line in standing}, set[int]()
    for at, line in enumerate(lines):
        body = _body(line)
        stays = place_of(line.ref)[0] not in repeats or line.kind in ("user", "note")
        values = values_of([line])
        if stays or values - told or (line.kind in ("data", "text") and body not in said):
            kept.add(at)
            told |= values
            said.add(body)
    return _with_needed(lines, kept)


def _body(line: Line) -> str:
    """What a line says, without its marks and its address."""
    return " ".join(_FENCES.sub("", line.text).lstrip("<> ").split())


def _with_needed(lines: Sequence[Line], kept: set[int]) -> tuple[Line, ...]:
    """The kept lines with those that they cannot be read without."""
    needed = above(lines)
    every = kept | {place for at in kept for place in needed[at]}
    return tuple(line for at, line in enumerate(lines) if at in every)
