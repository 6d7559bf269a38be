"""`noise_filter`: fold steps that show nothing but what stood before, every other line kept. It judges no relevance: only what is said again is noise.

Source: ACR's noise filtering: delete duplicates and what changed nothing; keep discoveries, changes of state, errors that bind, the latest observation.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.errors import FoldError
from ctxfold.folding import stretch
from ctxfold.folding.consolidate import pinned_in, price, tile_of
from ctxfold.refactoring.distil import distilled
from ctxfold.refactoring.loops import repeats
from ctxfold.refactoring.telling import told
from ctxfold.refactoring.values import Case, Put, Refactoring, Refusal
from ctxfold.workspace import Origin, RawStep, spans

__all__ = ["noise_filter"]


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
