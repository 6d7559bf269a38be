"""Makes tiles for blocks, counts their price, and refuses a written summary that saves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxfold.decisions.fold.beside import in_force, kept_beside
from ctxfold.errors import FoldError
from ctxfold.log.lines import Line
from ctxfold.tokens import count_lines
from ctxfold.view.condense import stub
from ctxfold.view.show import show
from ctxfold.view.trail import changes_of, trail
from ctxfold.workspace.workspace import Block, Origin, RawStep, Status, Tile, Workspace, spans

__all__ = ["TRAIL", "price", "status_of", "tile_of", "told_tile"]

TRAIL = 0.1
"""Of what older steps may take, what the trail of artifacts may take at most."""

_SNAPSHOT = 2
"""Times its price in a view that a stretch counts for at most where its raw records are larger, as the snapshots of pages are."""


def told_tile(workspace: Workspace, blocks: Sequence[Block], number: int, summary: str, origin: Origin) -> Tile:
    """The tile of a summary that a host or a model wrote; the user's words, findings, what is in use since, and the names of what it leaves out stand
    beside it.

    Args:
        workspace: where the blocks stand.
        blocks: a contiguous stretch of it.
        number: the tile's number.
        summary: what was written.
        origin: who wrote it.

    Raises:
        FoldError: the summary is empty, or costs more, with what stands beside it, than what it would replace.
    """
    summary = summary.strip()
    if not summary:
        raise FoldError(
            "the summary is empty; say what was done, found and decided, or leave it out to let ctxfold write it"
        )
    later = workspace.blocks[workspace.blocks.index(blocks[-1]) + 1 :]
    lines = kept_beside(blocks, summary, in_force(blocks, later, workspace.intent), workspace.intent.lifted)
    took = price(*blocks)
    steps = tuple(step for block in blocks for step in block.steps)
    changed = trail(changes_of(blocks), steps, int(TRAIL * took), "\n".join([summary, *(line.text for line in lines)]))
    lines = (*([changed] if changed else []), *lines)
    tile = tile_of(blocks, number, summary, lines, origin)
    gives = price(tile)
    gone = stub(tile.steps, tile.raw, [line for block in blocks for line in block.lines], tile.text, _SNAPSHOT * took)
    if gone is not None and gives + gone.tokens < took:
        return tile_of(blocks, number, summary, (*lines, gone), origin)
    if gives >= took:
        beside = sum(line.tokens for line in lines)
        raise FoldError(
            f"this summary would cost {gives} tokens, {beside} of them for what must stand beside it, for the {took} of {spans(tile.steps)}; shorten it, or fold more steps"
        )
    return tile


def tile_of(
    blocks: Sequence[Block],
    number: int,
    summary: str,
    lines: tuple[Line, ...],
    origin: Origin,
    whole: bool = False,
    status: Status | None = None,
) -> Tile:
    """A tile for blocks, its price counted.

    Args:
        blocks: what it stands for.
        number: its number.
        summary: prose that replaces them.
        lines: what is kept of them.
        origin: who wrote the summary.
        whole: whether every line of them stands.
        status: how they ended; None lets the evidence say.
    """
    steps = tuple(step for block in blocks for step in block.steps)
    raw = sum(block.raw for block in blocks)
    untrusted = any(line.untrusted for block in blocks for line in block.lines) or any(
        isinstance(block, Tile) and block.untrusted for block in blocks
    )
    children = tuple(block.number for block in blocks if isinstance(block, Tile))
    made = Tile(number, steps, summary, lines, status or status_of(blocks), origin, raw, 0, untrusted, whole, children)
    return replace(made, tokens=show(made).tokens, changed=changes_of(blocks))


def price(*blocks: Block) -> int:
    """o200k tokens of blocks as a view shows them, their seams counted."""
    return count_lines(["", *(text for block in blocks for text in show(block).texts), ""])


def status_of(blocks: Sequence[Block]) -> Status:
    """How a stretch ended, from evidence: a failed tile at its end fails it, an unsettled step leaves it partial."""
    last = blocks[-1]
    match last:
        case Tile():
            return last.status
        case RawStep():
            return "completed" if last.settled else "partial"
