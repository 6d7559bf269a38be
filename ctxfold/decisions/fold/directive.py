"""The fold decision as a value, and its applier.

Source: AgentFold (arXiv 2510.24699), section 3: a directive names a range that ends at the latest step and the text that replaces it;
one step is granular condensation, several are deep consolidation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ctxfold.errors import FoldError
from ctxfold.workspace.workspace import Block, Older, Tile, Workspace, spans

__all__ = ["FoldDirective", "fold", "stretch"]


class FoldDirective(BaseModel):
    """Keep `summary` in place of every step from `first_step` to `last_step`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    summary: str | None = Field(
        default=None,
        description="What replaces the steps: what was done, found and decided. Omit to let ctxfold write it.",
    )
    first_step: int | None = Field(default=None, ge=1, description="The first step to fold; omit for the latest alone.")
    last_step: int | None = Field(default=None, ge=1, description="The last step to fold; omit for the latest.")


def stretch(workspace: Workspace, first: int | None, last: int | None) -> tuple[Block, ...]:
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
