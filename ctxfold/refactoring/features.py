"""A history as numbers: what a router that is trained would learn from. No word of the log is among them."""

from __future__ import annotations

from ctxfold.refactoring.attention_anchor import overlooked
from ctxfold.refactoring.fact_rectify import faulty
from ctxfold.refactoring.loops import loops, repeats, stuck
from ctxfold.refactoring.values import Case
from ctxfold.workspace import RawStep, Tile

__all__ = ["features"]

_RECENT = 8


def features(case: Case) -> dict[str, float]:
    """What is told of a history.

    Args:
        case: the history.

    Returns:
        `steps` of the path, `raw` and `tiles` as blocks, `tokens` of the cover and `level` of the budget, `calls` answered, `failed` of them in all
        and `failing` of the last eight, the share of `repeats`, steps in `loops`, `stuck` calls, `contradicted` and `overlooked` as 0 or 1,
        `refactored` so far.
    """
    workspace = case.workspace
    ended = [act for act in case.acts if act.result]
    recent = ended[-_RECENT:]
    return {
        "steps": workspace.path_length,
        "raw": sum(isinstance(block, RawStep) for block in workspace.blocks),
        "tiles": sum(isinstance(block, Tile) for block in workspace.blocks),
        "tokens": workspace.tokens,
        "level": round(workspace.tokens / case.budget, 3),
        "calls": len(ended),
        "failed": sum(bool(act.failure) for act in ended),
        "failing": round(sum(bool(act.failure) for act in recent) / len(recent), 3) if recent else 0.0,
        "repeats": round(repeats(case).share, 3),
        "loops": sum(len(loop.steps) for loop in loops(case)),
        "stuck": len(stuck(case)),
        "contradicted": int(faulty(case)),
        "overlooked": int(overlooked(case)),
        "refactored": workspace.guidance.made,
    }
