"""Commits what a decider wants folded when that pays, and keeps the rest for the next batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from browser_agent.deciders import Decided
from ctxfold import Session
from ctxfold.decisions.fold import find_stretch, price_blocks, write_tile
from ctxfold.errors import FoldError
from ctxfold.tokens import count
from ctxfold.view.render import View
from ctxfold.workspace import Block, By, RawStep, Tile, Workspace, spans

READ, WRITE = 0.05, 1.25
"""Prices of a token that comes from the prompt cache and of one that goes into it, beside one that is read in full."""

_REACH = 24
"""Steps over which a fold is counted on: about as many pass between two batches."""

_HABIT = 5
"""Steps before the latest that must all have been folded by a model for the latest to be expected to be folded next."""

_SEAM = 4
"""Tokens that a text of the context costs beside its words, at most."""

_FREED = 0.15
"""Of the room of the past, what folding its newest steps alone must free: else the next step would have it done again."""


def pays(took: int, gives: int, behind: int, left: int) -> bool:
    """Whether a fold is worth the prefix it breaks.

    Args:
        took: tokens of the steps in full.
        gives: tokens of what takes their place.
        behind: tokens of the past that stand behind them, which are written to the cache again.
        left: steps the run may still take.
    """
    return (took - gives) * READ * min(left, _REACH) > (gives + behind) * (WRITE - READ)


def kept_blocks(view: View, workspace: Workspace, waiting: Collection[int] = ()) -> int:
    """How many leading blocks of a view the next request keeps: without the latest step where whoever decides folds each step after the next.

    Args:
        view: what is sent.
        workspace: what it was rendered from.
        waiting: the steps whose folds are decided, and wait until they pay.
    """
    folding = _folded(workspace.blocks[:-1], waiting) >= _HABIT
    return max(view.stable - folding, 0)


def room_of_past(view: View, budget: int, beside: str) -> int:
    """o200k tokens of a budget that the rest of the context leaves to the past.

    Args:
        view: the past as it was fitted into the budget, with the goal before it and the register behind it.
        budget: o200k tokens of all of it.
        beside: what closes the context.
    """
    texts = [part["text"] for part in view.messages[0]["content"]]
    ends = [texts[0], *texts[view.stable :], beside]
    return budget - sum(count(text) + _SEAM for text in ends)


def overflows(workspace: Workspace, room: int) -> bool:
    """Whether the past takes more than its room."""
    return workspace.older is not None or workspace.tokens > room


def newest_runs(workspace: Workspace, room: int, micro: float) -> tuple[tuple[int, int], ...]:
    """The first and the last step of runs of full steps before the latest, newest first, that make room where they alone are folded.

    What stands before them is then still read from the prompt cache: to write it anew costs as much as to read it 25 times. None where they are too few,
    or where the oldest stand in full: those go first.
    """
    runs: list[tuple[int, int]] = []
    freed, joined = 0.0, False
    wanted = workspace.tokens - (1 - _FREED) * room
    for block in reversed(workspace.blocks[:-1] if isinstance(workspace.blocks[0], Tile) else ()):
        if freed >= wanted:
            break
        full = isinstance(block, RawStep) and block.settled
        if full:
            last = runs.pop()[1] if joined else block.steps[-1]
            runs.append((block.steps[0], last))
            freed += (1 - micro) * block.tokens
        joined = full
    return tuple(runs) if freed >= wanted else ()


def _folded(blocks: Sequence[Block], waiting: Collection[int]) -> int:
    """How many of the newest steps in a row stand as what a model wrote of them, or are to."""
    steps = 0
    for block in reversed(blocks):
        written = isinstance(block, Tile) and block.origin == "model"
        if not (written or all(step in waiting for step in block.steps)):
            break
        steps += len(block.steps)
    return steps


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
        blocks = find_stretch(workspace, directive.first_step, directive.last_step)
        if summary is not None:
            write_tile(workspace, blocks, 0, summary, "model")
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
    blocks = find_stretch(workspace, fold.first, fold.last)
    at = workspace.blocks.index(blocks[-1]) + 1
    behind = sum(block.tokens for block in workspace.blocks[at:])
    took = price_blocks(*blocks)
    gives = int(micro * took) if fold.summary is None else price_blocks(write_tile(workspace, blocks, 0, fold.summary, "model"))
    return pays(took, gives, behind, left)
