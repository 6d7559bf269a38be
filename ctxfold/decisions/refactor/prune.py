"""`path_prune`: fold what led nowhere into a tile of status failed, with all it discovered. The world outside is not rewound, and the tile says so.

Source: ACR's path pruning: drop three or more similar failures and back-and-forth, end at a clean point to decide from, keep what the failed branch found.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.decisions.fold.consolidate import pinned_in, price, tile_of
from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.refactor.abstract import distilled, told
from ctxfold.decisions.refactor.loops import Loop, loops, repeats
from ctxfold.decisions.refactor.values import Case, Put, Refactoring, Refusal
from ctxfold.errors import FoldError
from ctxfold.prompts import prompt
from ctxfold.workspace.workspace import Block, Origin, RawStep, Tile, spans

__all__ = ["noise_filter", "path_prune"]


def noise_filter(case: Case, text: str | None, origin: Origin) -> Refactoring | Refusal:
    """Fold the repeats.

    Args:
        case: what is looked at.
        text: what replaces the prose of everything before the latest step; None drops repeats alone.
        origin: who wrote it.

    Returns:
        One tile over each run of raw steps with repeats in it, or why there is none.
    """
    if text is not None:
        return told("noise_filter", case, case.workspace.blocks[: case.protected], text, origin)
    again = repeats(case)
    flagged = frozenset(again.steps)
    effects: list[Put] = []
    for run in _runs(case, again.steps):
        try:
            blocks = stretch(case.workspace, run[0], run[-1])
        except FoldError:
            continue
        lines = distilled(blocks, flagged, pinned_in(case.workspace, blocks))
        tile = tile_of(blocks, case.tile + len(effects), "", lines, "embedded", status="completed")
        if price(tile) < price(*blocks):
            effects.append(Put(tile))
    if not effects:
        return Refusal("noise_filter", "no step before the latest repeats another")
    steps = [step for effect in effects for step in effect.tile.steps if step in flagged]
    reason = f"{spans(steps)} repeat what stood before"
    return Refactoring("noise_filter", tuple(effects), reason, flagged=flagged)


def _runs(case: Case, steps: Sequence[int]) -> list[list[int]]:
    """Repeats in runs, each within raw steps alone: a tile between two of them parts them."""
    runs: list[list[int]] = []
    wanted = set(steps)
    parted = True
    for block in case.workspace.blocks:
        match block:
            case RawStep(n=n) if n in wanted:
                if parted:
                    runs.append([])
                runs[-1].append(n)
                parted = False
            case RawStep():
                continue
            case _:
                parted = True
    return runs


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
