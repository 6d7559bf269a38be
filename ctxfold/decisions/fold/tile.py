"""Makes tiles for blocks with the lines that stay beside a written summary, counts their price, and refuses a summary that saves nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ctxfold.errors import FoldError
from ctxfold.log.lines import Line
from ctxfold.tokens import count_lines
from ctxfold.view.condense import stub
from ctxfold.view.headings import above
from ctxfold.view.pieces import pieces_of, values_in
from ctxfold.view.shorten import shortened
from ctxfold.view.show import show, unkept
from ctxfold.view.stretch import HEAD, Chosen, Stretch
from ctxfold.view.trail import changes_of, trail
from ctxfold.workspace.intent import Intent
from ctxfold.workspace.workspace import Block, Origin, RawStep, Status, Tile, Workspace, spans

__all__ = ["TRAIL", "in_force", "kept_beside", "price", "status_of", "tile_of", "told_tile", "values_of", "values_said"]

TRAIL = 0.1
"""Of what older steps may take, what the trail of artifacts may take at most."""

_SNAPSHOT = 2
"""Times its price in a view that a stretch counts for at most where its raw records are larger, as the snapshots of pages are."""


def told_tile(workspace: Workspace, blocks: Sequence[Block], number: int, summary: str, origin: Origin) -> Tile:
    """The tile of a summary that a host or a model wrote; the user's words, findings, what is in use since, and the names of what it leaves out stand
    beside it. Raises FoldError: it is empty, or costs more, with what stands beside it, than what it would replace.
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
    lines = (*lines, *([changed] if changed else []))
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
    """A tile for blocks, its price counted. `whole`: whether every line of them stands; `status`: how they ended, None lets the evidence say."""
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


def values_of(lines: Iterable[Line]) -> set[str]:
    """What of lines has to be exact to be of use, lower case."""
    return {value for line in lines for piece in pieces_of(line) for value, _ in piece.values if len(value) > 1}


def values_said(text: str) -> set[str]:
    """The same of a text, whatever its length."""
    return {value for row in text.splitlines() for value in values_in(row)}


def in_force(blocks: Sequence[Block], naming: Sequence[Block], intent: Intent) -> set[str]:
    """The values with a digit of a stretch that are in use: calls or words of `naming` name them, or an open item or a constraint holds them."""
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
    """The lines of a stretch that stay beside a summary, shortened to what they stay for.

    Each needed value stands in the summary, or else in the first line that holds it, with the call it answers. `lifted`: findings that hold no more.
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
