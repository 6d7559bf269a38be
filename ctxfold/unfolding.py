"""Folded stretches as they stood before the embedded folder folded them, read from the log. It only reads, and opens nothing that somebody told.

A fold of a fold keeps what the first found worth keeping, for a question that has been answered since. Folding again from the log lets what the
session is about now decide over all of it, so nothing is lost twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxfold.loading import raw_steps
from ctxfold.store.protocol import Reading
from ctxfold.store.values import Path
from ctxfold.tiles import read_tile
from ctxfold.workspace import Block, RawStep, Tile, Workspace

__all__ = ["REACH", "unfolded"]

REACH = 100_000
"""o200k tokens of lines that are opened, newest first; what lies before stays folded."""


def unfolded(
    tx: Reading, session: int, workspace: Workspace, blocks: Sequence[Block], reach: int = REACH
) -> tuple[Block, ...]:
    """Blocks with the tiles among them opened: the steps they were made of, and the tiles inside them that somebody told.

    Args:
        tx: an open transaction.
        session: the session's row id.
        workspace: where the blocks stand.
        blocks: a contiguous stretch of it, in path order.
        reach: o200k tokens of lines to open at most.

    Returns:
        Blocks of the same steps, in path order.

    Raises:
        CorruptStore: something of them does not read back.
    """
    if all(isinstance(block, RawStep) for block in blocks):
        return tuple(blocks)
    path = tx.log.path(session, workspace.blocks[-1].steps[-1])
    told = {number for number, _ in workspace.guidance.depths}
    found: list[Block] = []
    spent = 0
    for block in reversed(blocks):
        parts = (
            (block,) if isinstance(block, RawStep) or spent >= reach else tuple(_opened(tx, session, path, block, told))
        )
        spent += sum(part.tokens for part in parts)
        found.extend(reversed(parts))
    return tuple(found[::-1])


def _opened(tx: Reading, session: int, path: Path, tile: Tile, told: set[int]) -> Iterator[Block]:
    """What a tile was made of, in path order; the tile itself when it says something that the log does not."""
    if tile.summary or tile.origin != "embedded" or tile.number in told:
        yield tile
        return
    inside = {child.first: child for child in (read_tile(tx, session, number) for number in tile.children)}
    at = 0
    while at < len(tile.steps):
        child = inside.get(tile.steps[at])
        if child is not None:
            yield from _opened(tx, session, path, child, told)
            at += len(child.steps)
            continue
        end = at + 1
        while end < len(tile.steps) and tile.steps[end] not in inside:
            end += 1
        yield from _steps(tx, session, path, tile.steps[at], tile.steps[end - 1])
        at = end


def _steps(tx: Reading, session: int, path: Path, first: int, last: int) -> list[RawStep]:
    low, high = tx.log.step(session, first), tx.log.step(session, last)
    steps = tx.log.along(session, path, low.depth, high.depth) if low is not None and high is not None else []
    return raw_steps(tx, session, steps)
