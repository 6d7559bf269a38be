"""Applies a refactoring to a workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from ctxfold.decisions.fold.directive import fold
from ctxfold.decisions.refactor.values import AddNote, Effect, PutTile, Refactoring, Supersede
from ctxfold.workspace.guidance import Guidance, Pin
from ctxfold.workspace.workspace import Tile, Workspace

__all__ = ["VERSION", "depth_of", "refactor"]

VERSION = 1
"""Of the applier. Events hold resolved content, so an older session keeps its bytes when this grows."""

_SUPERSEDED, _DEPTHS = 40, 64


def refactor(workspace: Workspace, refactoring: Refactoring) -> Workspace:
    """Apply a refactoring. Pure. Raises FoldError: a tile of it stands for steps that are not whole blocks of this workspace."""
    after = workspace
    for effect in refactoring.effects:
        after = _with(after, effect)
    guidance = after.guidance
    return replace(after, guidance=replace(guidance, made=guidance.made + 1, depths=guidance.depths[-_DEPTHS:]))


def _with(workspace: Workspace, effect: Effect) -> Workspace:
    guidance = workspace.guidance
    match effect:
        case PutTile(tile=tile):
            depth = 1 + depth_of(workspace, tile)
            after = fold(workspace, tile)
            return replace(after, guidance=replace(guidance, depths=(*guidance.depths, (tile.number, depth))))
        case AddNote(pin=pin):
            return replace(workspace, guidance=_pinned(guidance, pin))
        case Supersede(fact=fact):
            others = tuple(each for each in guidance.superseded if each != fact)
            return replace(workspace, guidance=replace(guidance, superseded=(*others, fact)[-_SUPERSEDED:]))
        case _:
            assert_never(effect)


def _pinned(guidance: Guidance, pin: Pin) -> Guidance:
    match pin.slot:
        case "thought":
            return replace(guidance, thought=pin)
        case "key_info":
            return replace(guidance, key_info=pin)
        case _:
            assert_never(pin.slot)


def depth_of(workspace: Workspace, tile: Tile) -> int:
    """How many refactorings stand inside each other already in the blocks that a tile would replace."""
    depths = dict(workspace.guidance.depths)
    inside = set(tile.steps)
    numbers = (
        block.number for block in workspace.blocks if isinstance(block, Tile) and not inside.isdisjoint(block.steps)
    )
    return max((depths.get(number, 0) for number in numbers), default=0)
