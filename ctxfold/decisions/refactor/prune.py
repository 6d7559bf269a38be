"""Loops of a history, folded into tiles of status failed."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.fold.tile import price, tile_of
from ctxfold.decisions.refactor.lines import without_repeats
from ctxfold.decisions.refactor.repetition import Loop, loops
from ctxfold.decisions.refactor.values import Case, PutTile, Refactoring, Refusal
from ctxfold.errors import FoldError
from ctxfold.prompts import prompt
from ctxfold.workspace.workspace import Block, Tile, spans

__all__ = ["path_prune"]


def path_prune(case: Case) -> Refactoring | Refusal:
    """Fold every loop that stands before the latest step into a tile of status failed, with all that it showed."""
    effects: list[PutTile] = []
    for loop in loops(case):
        blocks = _foldable(case, loop)
        tile = _pruned(blocks, loop.repeats, case.tile + len(effects)) if blocks else None
        if tile is not None:
            effects.append(PutTile(tile))
    if not effects:
        return Refusal("no stretch that went in circles stands before the latest step")
    where = "; ".join(spans(effect.tile.steps) for effect in effects[-3:])
    return Refactoring("path_prune", tuple(effects), f"the same calls with the same results in {where}")


def _foldable(case: Case, loop: Loop) -> Sequence[Block]:
    """The blocks of a loop that may be folded: those before what stays as it is."""
    free = {block.steps[-1] for block in case.workspace.blocks[: case.protected]}
    steps = [step for step in loop.steps if step in free]
    if len(steps) < 2:
        return ()
    try:
        return stretch(case.workspace, steps[0], steps[-1])
    except FoldError:
        return ()


def _pruned(blocks: Sequence[Block], repeats: frozenset[int], number: int) -> Tile | None:
    """The tile of a loop, with a word on the world outside where that still makes the view smaller; None where nothing does."""
    lines = without_repeats(blocks, repeats)
    before = price(*blocks)
    for summary in (prompt("refactor_pruned"), ""):
        tile = tile_of(blocks, number, summary, lines, "embedded", status="failed")
        if price(tile) < before:
            return tile
    return None
