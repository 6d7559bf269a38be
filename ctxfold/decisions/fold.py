"""Directive, tile, price, water marks, applier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ctxfold.errors import FoldError, InputError
from ctxfold.log.lines import Line
from ctxfold.select import pieces_of_lines, write
from ctxfold.select.pieces import cut_line, values_in
from ctxfold.tokens import count_lines
from ctxfold.view.fit import demote_lifted, name_steps, show
from ctxfold.view.trail import changes_of, write_trail
from ctxfold.workspace import Block, Intent, Older, Origin, RawStep, Status, Tile, Workspace, spans


class FoldDirective(BaseModel):
    """Keep `summary` in place of every step from `first_step` to `last_step`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    summary: str | None = Field(
        default=None,
        description="What replaces the steps: what was done, found and decided. Omit to let ctxfold write it.",
    )
    first_step: int | None = Field(default=None, ge=1, description="The first step to fold; omit for the latest alone.")
    last_step: int | None = Field(default=None, ge=1, description="The last step to fold; omit for the latest.")


def find_stretch(workspace: Workspace, first: int | None, last: int | None) -> tuple[Block, ...]:
    """The blocks from a first step (None for the last alone) to a last one (None for the latest).

    Raises FoldError: nothing to fold, a step that is not on this path, ends in the wrong order, or a cut through a tile.
    """
    start, end = _bounds(workspace, first, last)
    return workspace.blocks[start:end]


def _bounds(workspace: Workspace, first: int | None, last: int | None) -> tuple[int, int]:
    """Where those blocks stand: from the first up to, not with, the second."""
    blocks = workspace.blocks
    if not blocks:
        raise FoldError("nothing to fold yet; record a step first")
    end = len(blocks) - 1 if last is None else _holding(workspace, last)
    start = end if first is None or first == last else _holding(workspace, first)
    if start > end:
        raise FoldError(f"s{first} comes after s{last} on this path; name the earlier step first")
    if first is not None and blocks[start].steps[0] != first:
        raise FoldError(_cut(first, blocks[start]))
    if last is not None and blocks[end].steps[-1] != last:
        raise FoldError(_cut(last, blocks[end]))
    return start, end + 1


def _cut(step: int, block: Block) -> str:
    here = block.steps
    return f"s{step} lies inside a folded block of {spans(here)}; fold from s{here[0]} or to s{here[-1]}"


def _holding(workspace: Workspace, step: int) -> int:
    """The block that holds a step."""
    at = workspace.holding(step)
    if at is not None:
        return at
    path = spans([step for block in workspace.blocks for step in block.steps])
    raise FoldError(
        f"s{step} is not on this branch, whose steps are {_before(workspace.older)}{path}; name one of those"
    )


def _before(older: Older | None) -> str:
    return "" if older is None else f"s{older.first}-s{older.last}, "


def fold(workspace: Workspace, tile: Tile) -> Workspace:
    """Put a tile in place of the blocks whose steps it stands for. Pure. Raises FoldError: those steps are not whole blocks of this workspace."""
    start, end = _bounds(workspace, tile.first, tile.last)
    blocks = workspace.blocks
    if tuple(step for block in blocks[start:end] for step in block.steps) != tile.steps:
        raise FoldError(
            f"{spans(tile.steps)} are not the steps that stand there now; look at the context again and name whole blocks"
        )
    return replace(workspace, blocks=(*blocks[:start], tile, *blocks[end:]))


_SMALL = 8_000
"""o200k tokens of a budget below which there is no room to spare, and no prefix worth a cache."""


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """When the cover is consolidated, and how far. A share is one of the budget.

    Attributes:
        high: the high-water mark, from which the cover is consolidated.
        low: the low-water mark, down to which it is worked.
        full: share that the newest steps fill in full after it; more where the session edits documents that stand in them, up to what `least` and the user's words leave.
        latest: the most that counts of the newest step: what is above it is bounded in the view.
        least: share that the older steps get at least.
        micro: share of a step that folding it alone leaves.
        front: the most that a summary in front of the older steps takes.
    """

    high: float = 0.90
    low: float = 0.60
    full: float = 0.20
    latest: float = 0.60
    least: float = 0.20
    micro: float = 0.40
    front: float = 0.30

    def __post_init__(self) -> None:
        shares = all(0 < share <= 1 for share in astuple(self))
        if not shares or round(self.full + self.least, 9) > self.low or self.low >= self.high:
            raise InputError(
                "fold settings are shares above 0 up to 1, full and least together at most low, and low below high; give such"
            )

    def of(self, budget: int) -> FoldSettings:
        """The settings at a budget: those a caller gives stand, the usual ones are higher where there is no room to spare and no prefix worth a cache."""
        return replace(self, high=1.0, low=0.80) if budget < _SMALL and self == SETTINGS else self


SETTINGS = FoldSettings()
"""The water marks and shares where a caller gives none."""


TRAIL = 0.1
"""Of what older steps may take, what the trail of artifacts may take at most."""

_SNAPSHOT = 2
"""Times its price in a view that a stretch counts for at most where its raw records are larger, as the snapshots of pages are."""


def write_tile(workspace: Workspace, blocks: Sequence[Block], number: int, summary: str, origin: Origin) -> Tile:
    """The tile of a summary that a host or a model wrote; the user's words, findings, what is in use since, and the names of what it leaves out stand
    beside it. Raises FoldError: it is empty, or costs more, with what stands beside it, than what it would replace.
    """
    summary = summary.strip()
    if not summary:
        raise FoldError(
            "the summary is empty; say what was done, found and decided, or leave it out to let ctxfold write it"
        )
    later = workspace.blocks[workspace.blocks.index(blocks[-1]) + 1 :]
    lines = keep_beside(blocks, summary, find_values_in_force(blocks, later, workspace.intent), workspace.intent.lifted)
    took = price_blocks(*blocks)
    steps = tuple(step for block in blocks for step in block.steps)
    changed = write_trail(changes_of(blocks), steps, int(TRAIL * took), "\n".join([summary, *(line.text for line in lines)]))
    lines = (*lines, *([changed] if changed else []))
    tile = make_tile(blocks, number, summary, lines, origin)
    gives = price_blocks(tile)
    gone = name_steps(tile.steps, tile.raw, [line for block in blocks for line in block.lines], tile.text, _SNAPSHOT * took)
    if gone is not None and gives + gone.tokens < took:
        return make_tile(blocks, number, summary, (*lines, gone), origin)
    if gives >= took:
        beside = sum(line.tokens for line in lines)
        raise FoldError(
            f"this summary would cost {gives} tokens, {beside} of them for what must stand beside it, for the {took} of {spans(tile.steps)}; shorten it, or fold more steps"
        )
    return tile


def make_tile(
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


def price_blocks(*blocks: Block) -> int:
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
    return {value for line in lines for piece in cut_line(line) for value, _ in piece.values if len(value) > 1}


def values_said(text: str) -> set[str]:
    """The same of a text, whatever its length."""
    return {value for row in text.splitlines() for value in values_in(row)}


def find_values_in_force(blocks: Sequence[Block], naming: Sequence[Block], intent: Intent) -> set[str]:
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


def keep_beside(
    blocks: Sequence[Block], summary: str, needed: set[str], lifted: frozenset[str] = frozenset()
) -> tuple[Line, ...]:
    """The lines of a stretch that stay beside a summary, shortened to what they stay for.

    Each needed value stands in the summary, or else in the first line that holds it, with the call it answers. `lifted`: findings that hold no more.
    """
    lines = [line for block in blocks for line in demote_lifted(block.lines, lifted)]
    stays = {at for at, line in enumerate(lines) if line.kind in ("user", "note")}
    said = summary.lower()
    left = {value for value in needed - values_said(summary) if value not in said}
    left -= values_of(lines[at] for at in stays)
    pieces = pieces_of_lines(lines)
    kept = {place for place, piece in enumerate(pieces) if piece.line in stays}
    for place, piece in enumerate(pieces):
        values = {value for value, _ in piece.values}
        if piece.kind in ("call", "data", "text") and not left.isdisjoint(values):
            left -= values
            kept |= {place, *piece.under}
    return tuple(write(lines, pieces, kept))
