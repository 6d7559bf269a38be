"""`path_prune`: fold what led nowhere into a tile of status failed, with all it discovered. The world outside is not rewound, and the tile says so.

Source: ACR's path pruning: drop three or more similar failures and back-and-forth, end at a clean point to decide from, keep what the failed branch found.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.errors import FoldError
from ctxfold.folding import stretch
from ctxfold.folding.consolidate import pinned_in, price, tile_of
from ctxfold.prompts import prompt
from ctxfold.refactoring.distil import distilled
from ctxfold.refactoring.loops import Loop, loops
from ctxfold.refactoring.values import Case, Put, Refactoring, Refusal
from ctxfold.workspace import Block, Origin, Tile, spans

__all__ = ["path_prune"]


def path_prune(case: Case, text: str | None, origin: Origin) -> Refactoring | Refusal:
    """Fold every loop that stands before the latest step.

    Args:
        case: what is looked at.
        text: what the tile of the newest loop says; None for a line of ours.
        origin: who wrote it.

    Returns:
        One tile a loop, or why there is none.
    """
    effects: list[Put] = []
    reasons: list[str] = []
    flagged: set[int] = set()
    for loop in loops(case):
        blocks = _foldable(case, loop)
        if not blocks:
            continue
        tile, dropped = _tile(case, blocks, loop, case.tile + len(effects))
        if tile is not None:
            effects.append(Put(tile))
            flagged |= dropped
            reasons.append(f"{loop.kind} in {spans(tile.steps)}")
    if not effects:
        return Refusal("path_prune", "no stretch that failed or went in circles stands before the latest step")
    if text is not None:
        last = effects[-1].tile
        told = tile_of(
            stretch(case.workspace, last.first, last.last), last.number, text, last.lines, origin, status="failed"
        )
        effects[-1] = Put(told)
    return Refactoring("path_prune", tuple(effects), "; ".join(reasons[-3:]), flagged=frozenset(flagged))


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


def _tile(case: Case, blocks: Sequence[Block], loop: Loop, number: int) -> tuple[Tile | None, frozenset[int]]:
    """The tile of a loop and the steps it drops lines of: of those that say again what stands before them, else also of those said again behind it.

    With a word on the world outside where that still makes the view smaller; no tile where nothing does.
    """
    pinned = pinned_in(case.workspace, blocks)
    folded = {step for block in blocks for step in block.steps}
    behind = [
        line for block in case.workspace.blocks for line in block.lines if set(block.steps) <= set(loop.steps) - folded
    ]
    before = price(*blocks)
    for flagged, beside in ((loop.repeats, []), (loop.repeats | loop.twice, behind)):
        lines = distilled(blocks, flagged, pinned, beside)
        for summary in (prompt("refactor_pruned"), ""):
            tile = tile_of(blocks, number, summary, lines, "embedded", status="failed")
            if flagged & folded and price(tile) < before:
                return tile, flagged
    return None, frozenset()
