"""Folding: the directive, the tile of a written summary with the lines that it keeps, the applier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from ctxfold.errors import FoldError
from ctxfold.log import spans
from ctxfold.log.lines import Line
from ctxfold.tokens import count_lines
from ctxfold.view.fit import demote_lifted, show
from ctxfold.view.trail import changes_of
from ctxfold.workspace import STANDING, Block, Memory, Origin, Status, Tile, Workspace


class FoldDirective(BaseModel, frozen=True, extra="forbid"):
    """Keep `summary` in place of every step from `first_step` to `last_step`."""

    summary: str | None = Field(
        default=None,
        description="What replaces the steps: what was done, found and decided. Omit to let ctxfold write it.",
    )
    first_step: int | None = Field(default=None, ge=1, description="The first step to fold; omit for the latest alone.")
    last_step: int | None = Field(default=None, ge=1, description="The last step to fold; omit for the latest.")


def find_stretch(workspace: Workspace, first: int | None, last: int | None) -> tuple[Block, ...]:
    """Return the blocks from a first step (None for the last alone) to a last one (None for the latest).

    Raises FoldError: nothing to fold, a step that is not on this path, ends in the wrong order, or a cut through a
    tile.
    """
    blocks = workspace.blocks
    if not blocks:
        raise FoldError("nothing to fold yet; record a step first")
    end = len(blocks) - 1 if last is None else _holding(workspace, last)
    start = end if first is None or first == last else _holding(workspace, first)
    if start > end:
        raise FoldError(f"s{first} comes after s{last} on this path; name the earlier step first")
    for step, here, edge in ((first, blocks[start].steps, 0), (last, blocks[end].steps, -1)):
        if step is not None and here[edge] != step:
            fault = f"s{step} lies inside a folded block of {spans(here)}"
            raise FoldError(f"{fault}; fold from s{here[0]} or to s{here[-1]}")
    return blocks[start : end + 1]


def _holding(workspace: Workspace, step: int) -> int:
    """The index of the block that holds a step."""
    at = workspace.holding(step)
    if at is not None:
        return at
    path = spans([step for block in workspace.blocks for step in block.steps])
    older = f"s{workspace.older.first}-s{workspace.older.last}, " if workspace.older else ""
    raise FoldError(f"s{step} is not on this branch, whose steps are {older}{path}; name one of those")


def fold(workspace: Workspace, tile: Tile) -> Workspace:
    """Put a tile in place of the blocks of its steps. Pure. Raises FoldError: those steps are not whole
    blocks of this workspace.
    """
    blocks = find_stretch(workspace, tile.first, tile.last)
    if tuple(step for block in blocks for step in block.steps) != tile.steps:
        raise FoldError(f"the blocks of {spans(tile.steps)} changed; look at the context again and name whole blocks")
    start = workspace.blocks.index(blocks[0])
    after = workspace.blocks[start + len(blocks) :]
    return replace(workspace, blocks=(*workspace.blocks[:start], tile, *after))


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """A memory, the latest step that its author had read, the author, and the values in it that the log lacks.

    `fresh`: o200k tokens of the raw records after that step that are folded into its tile.
    """

    memory: Memory
    as_of: int
    origin: Origin
    marks: tuple[str, ...] = ()
    fresh: int = 0


def find_memory(blocks: Iterable[Block]) -> KeptMemory | None:
    """Return the memory that a tile among the blocks holds; None if nobody wrote one."""
    tiles = (block for block in blocks if isinstance(block, Tile))
    kept = (KeptMemory(tile.memory, tile.as_of, tile.origin, tile.marks, tile.fresh) for tile in tiles if tile.memory)
    return next(kept, None)


TRAIL = 0.1
"""The most of the older steps' room for the trail of changed files and records."""


def write_tile(workspace: Workspace, blocks: Sequence[Block], number: int, summary: str, origin: Origin) -> Tile:
    """Return the tile of a written summary, with the user's words and the findings of its steps.

    Raises FoldError: the summary is empty, or the tile would cost more than its blocks.
    """
    summary = summary.strip()
    if not summary:
        raise FoldError(
            "the summary is empty; say what was done, found and decided, or leave it out to let ctxfold write it"
        )
    lines = keep_words(blocks, workspace.intent.lifted)
    tile = make_tile(blocks, number, summary, lines, origin)
    if (kept := find_memory(blocks)) is not None:  # the text becomes a part of the memory, which lives on
        report = "\n".join(filter(None, (kept.memory.report, f"{spans(tile.steps)}: {summary}")))
        memory = kept.memory.model_copy(update={"report": report})
        tile = replace(tile, summary="", memory=memory, as_of=kept.as_of, fresh=kept.fresh)
        tile = replace(tile, origin=kept.origin, marks=kept.marks, tokens=show(tile).tokens)
    took, gives = price_blocks(*blocks), price_blocks(tile)
    if gives >= took:
        words = sum(line.tokens for line in lines)
        raise FoldError(
            f"this summary would cost {gives} tokens, {words} of them for the user's words; "
            f"{spans(tile.steps)} costs {took}; shorten it, or fold more steps"
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
    """Return a tile for blocks. `whole`: it keeps every line of them; `status`: None takes it from the evidence."""
    steps = tuple(step for block in blocks for step in block.steps)
    raw = sum(block.raw for block in blocks)
    untrusted = any(line.untrusted for block in blocks for line in block.lines) or any(
        isinstance(block, Tile) and block.untrusted for block in blocks
    )
    children = tuple(block.number for block in blocks if isinstance(block, Tile))
    made = Tile(number, steps, summary, lines, status or status_of(blocks), origin, raw, 0, untrusted, whole, children)
    return replace(made, tokens=show(made).tokens, changed=changes_of(blocks))


def price_blocks(*blocks: Block) -> int:
    """Return the o200k tokens of blocks in a view, with the lines between them."""
    return count_lines(["", *(text for block in blocks for text in show(block).texts), ""])


def status_of(blocks: Sequence[Block]) -> Status:
    """Return how blocks ended: as the last tile did, or partial if the last step is not settled."""
    last = blocks[-1]
    return last.status if isinstance(last, Tile) else "completed" if last.settled else "partial"


def keep_words(blocks: Sequence[Block], lifted: frozenset[str] = frozenset()) -> tuple[Line, ...]:
    """Return the lines that are kept beside a summary: the user's words and the findings that hold.

    `lifted`: findings that no longer hold.
    """
    lines = (line for block in blocks for line in demote_lifted(block.lines, lifted))
    return tuple(line for line in lines if line.kind in STANDING)
