"""The embedded router: which operator a history calls for, from evidence alone, and mostly none. It sees history and task, never the current query.

In order: a loop is pruned; a call that keeps failing where nothing can be pruned gets a thought; a summary that newer events contradict is corrected; many
repeats are filtered; a constraint last shown long ago is anchored; at the high-water mark the state is abstracted. Source: ACR's router, without a model.
"""

from __future__ import annotations

from typing import assert_never

from ctxfold.decisions.fold.consolidate import due
from ctxfold.decisions.fold.embedded import Settings
from ctxfold.decisions.refactor.abstract import state_abstract
from ctxfold.decisions.refactor.fact_rectify import fact_rectify, faulty
from ctxfold.decisions.refactor.loops import loops, repeats, stuck
from ctxfold.decisions.refactor.notes import attention_anchor, cognitive_boosting, overlooked, unheeded
from ctxfold.decisions.refactor.prune import noise_filter, path_prune
from ctxfold.decisions.refactor.values import Case, Operator, Refactoring, Refusal, Route
from ctxfold.workspace.workspace import Origin, RawStep, Tile

__all__ = ["decided", "features", "route"]


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


SHARE, LEAST = 0.5, 6
"""From what share of repeats, and how many, a history counts as noisy."""


def route(case: Case) -> Route:
    """What a history calls for.

    Args:
        case: the history.

    Returns:
        An operator with its evidence, or none.
    """
    pruned = path_prune(case, None, "embedded")
    if isinstance(pruned, Refactoring):
        return Route("path_prune", pruned.reason)
    if unheeded(case):
        return Route("cognitive_boosting", "the same call fails in the same way")
    if faulty(case):
        return Route("fact_rectify", "a summary or a note says what a newer event contradicts")
    again = repeats(case)
    if again.share >= SHARE and len(again.steps) >= LEAST:
        return Route("noise_filter", f"{len(again.steps)} of {again.of} steps repeat others")
    if overlooked(case):
        return Route("attention_anchor", "a constraint that holds was last shown long ago")
    if due(case.workspace, case.budget, Settings()) is not None:
        return Route("state_abstract", "high water")
    return Route(None)


def decided(operator: Operator, case: Case, text: str | None, origin: Origin) -> Refactoring | Refusal:
    """What an operator makes of a case.

    Args:
        operator: which.
        case: what is looked at.
        text: what a host or a model wrote for it; None for the embedded rules.
        origin: who wrote it.
    """
    match operator:
        case "state_abstract":
            return state_abstract(case, text, origin)
        case "noise_filter":
            return noise_filter(case, text, origin)
        case "fact_rectify":
            return fact_rectify(case, text, origin)
        case "path_prune":
            return path_prune(case, text, origin)
        case "cognitive_boosting":
            return cognitive_boosting(case, text, origin)
        case "attention_anchor":
            return attention_anchor(case, text, origin)
        case _:
            assert_never(operator)
