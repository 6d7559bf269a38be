"""Commits what a decider wants folded when that pays, and keeps the rest for the next batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from browser_agent.agent.standing import pays
from browser_agent.deciders.protocol import Decided
from ctxfold import Session
from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.fold.tile import price, told_tile
from ctxfold.errors import FoldError
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Workspace, spans

__all__ = ["Folds", "WantedFold", "commit_all", "commit_paying", "want"]


@dataclass(frozen=True, slots=True)
class WantedFold:
    """A fold that was decided and waits: its summary, its steps and who decided it."""

    summary: str | None
    first: int
    last: int
    by: By


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds that wait, oldest first, and why others were refused, a line each."""

    waiting: tuple[WantedFold, ...] = ()
    refused: tuple[str, ...] = ()


def want(session: Session, folds: Folds, decided: Decided, scrub: Callable[[str], str]) -> tuple[Folds, str]:
    """The folds with a decision's own behind them, those it covers left out; or as they are, and why its own is refused."""
    directive = decided.decision.fold
    if directive is None:
        return folds, ""
    workspace = session.workspace
    summary = None if directive.summary is None else scrub(directive.summary)
    try:
        blocks = stretch(workspace, directive.first_step, directive.last_step)
        if summary is not None:
            told_tile(workspace, blocks, 0, summary, "model")
    except FoldError as error:
        return folds, f"the fold was refused: {error}"
    first, last = blocks[0].steps[0], blocks[-1].steps[-1]
    kept = tuple(one for one in folds.waiting if not first <= one.first <= one.last <= last)
    return replace(folds, waiting=(*kept, WantedFold(summary, first, last, By(decided.kind)))), ""


def commit_paying(session: Session, folds: Folds, left: int) -> Folds:
    """Commit the folds that pay over the steps that are left. Returns those that wait on, and what was refused."""
    return _committed(session, folds, lambda workspace, fold: _pays(workspace, fold, left, session.settings.micro))


def commit_all(session: Session, folds: Folds) -> Folds:
    """Commit every fold that waits, in a batch. Returns what was refused."""
    return _committed(session, folds, lambda _workspace, _fold: True)


def _committed(session: Session, folds: Folds, due: Callable[[Workspace, WantedFold], bool]) -> Folds:
    waiting: list[WantedFold] = []
    refused = list(folds.refused)
    for fold in folds.waiting:
        try:
            if due(session.workspace, fold):
                session.fold(fold.summary, fold.first, fold.last, fold.by)
            else:
                waiting.append(fold)
        except FoldError as error:
            refused.append(f"the fold of {spans(range(fold.first, fold.last + 1))} was refused: {error}")
    return Folds(tuple(waiting), tuple(refused))


def _pays(workspace: Workspace, fold: WantedFold, left: int, micro: float) -> bool:
    """Whether a fold pays; one without a summary leaves the share `micro` of its steps. Raises FoldError where it cannot be made."""
    blocks = stretch(workspace, fold.first, fold.last)
    at = workspace.blocks.index(blocks[-1]) + 1
    behind = sum(block.tokens for block in workspace.blocks[at:])
    took = price(*blocks)
    gives = int(micro * took) if fold.summary is None else price(told_tile(workspace, blocks, 0, fold.summary, "model"))
    return pays(took, gives, behind, left)
