"""Prose that a host or a model wrote in place of a stretch: the tile it makes, with every fact the prose does not repeat. It checks no truth."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.compact.prose import values
from ctxfold.compact.spelled import spelled
from ctxfold.folding.consolidate import pinned_in, tile_of
from ctxfold.lines import Line
from ctxfold.refactoring.distil import with_needed
from ctxfold.refactoring.values import Case, Operator, Put, Refactoring, Refusal
from ctxfold.workspace import Block, Origin, spans

__all__ = ["told"]


def told(operator: Operator, case: Case, blocks: Sequence[Block], text: str, origin: Origin) -> Refactoring | Refusal:
    """A tile that says `text` in place of blocks.

    Args:
        operator: whose work it is.
        case: what is looked at.
        blocks: the stretch.
        text: the prose.
        origin: who wrote it.

    Returns:
        The refactoring; the user's words and the rows whose values the text does not hold stand in its tile.
    """
    if not blocks:
        return Refusal(operator, "nothing stands before the latest step")
    lines = _kept(blocks, text, pinned_in(case.workspace, blocks))
    tile = tile_of(blocks, case.tile, text, lines, origin)
    return Refactoring(operator, (Put(tile),), f"told of {spans(tile.steps)}")


def _kept(blocks: Sequence[Block], text: str, pinned: frozenset[int]) -> tuple[Line, ...]:
    """What every fold keeps, and each row of facts with a value that the text does not say."""
    said = values(text)
    lines = spelled([line for block in blocks for line in block.lines])
    kept: set[int] = set()
    for at, line in enumerate(lines):
        row = line.kind == "data" and bool(values(line.text) - said)
        if row or line.kind in ("user", "note") or not pinned.isdisjoint(line.keys):
            said |= values(line.text)
            kept.add(at)
    with_needed(lines, kept)
    return tuple(line for at, line in enumerate(lines) if at in kept)
