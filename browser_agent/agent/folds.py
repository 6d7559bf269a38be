"""Applies the fold, to-do and recalled lines of a decision; a fold that does not yet pay for the prompt cache waits for
the next batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from browser_agent.deciders import DecidedStep, Source
from ctxfold import Session
from ctxfold.decisions.fold import find_stretch, price_blocks, write_tile
from ctxfold.errors import FoldError, InputError
from ctxfold.tokens import count
from ctxfold.view.render import View
from ctxfold.workspace import Block, By, RawStep, Tile, Workspace, spans

READ, WRITE = 0.05, 1.25
"""Price of a token read from the prompt cache and of one written to it, relative to an uncached token (provider price
lists).
"""

_REACH = 24
"""Steps over which a fold saves tokens: about the distance of two batches."""

_HABIT = 5
"""If a model folded this many steps before the latest, the latest is expected to be folded next."""

_SEAM = 4
"""Tokens of overhead of one text part of a context, at most."""

_FREED = 0.15
"""Share of the past's room that folding its newest steps must free; less would bring the next fold one step later."""


def is_worth_folding(took: int, gives: int, behind: int, left: int) -> bool:
    """Decide whether a fold saves more than rewriting the prompt cache costs.

    Args:
        took: tokens of the steps in full.
        gives: tokens of the tile in their place.
        behind: tokens of the past after them, which are written to the cache again.
        left: steps the run may still take.
    """
    return (took - gives) * READ * min(left, _REACH) > (gives + behind) * (WRITE - READ)


def count_kept_blocks(view: View, workspace: Workspace, waiting: Collection[int] = ()) -> int:
    """Count the leading blocks of a view that the next request keeps; the latest step is not kept when the decider
    folds each step after the next.

    Args:
        view: the view that is sent.
        workspace: the value it was rendered from.
        waiting: steps whose folds are decided and wait until they pay.
    """
    folding = _count_folded(workspace.blocks[:-1], waiting) >= _HABIT
    return max(view.stable - folding, 0)


def measure_room(view: View, budget: int, beside: str) -> int:
    """Return the o200k tokens that goal, register and closing words leave to the past.

    Args:
        view: the view, with the goal first and the register last.
        budget: o200k tokens of the whole context.
        beside: the closing words of the context.
    """
    texts = [part["text"] for part in view.messages[0]["content"]]
    ends = [texts[0], *texts[view.stable :], beside]
    return budget - sum(count(text) + _SEAM for text in ends)


def overflows(workspace: Workspace, room: int) -> bool:
    """Return whether the past is larger than its room."""
    return workspace.older is not None or workspace.tokens > room


def choose_newest_runs(workspace: Workspace, room: int, micro: float) -> tuple[tuple[int, int], ...]:
    """Choose runs of full steps before the latest, newest first, that make enough room when they alone are folded; each
    as its first and last step.

    The older past is then still read from the prompt cache; writing it anew would cost as much as reading it 25 times.
    Empty when they free too little, or when the oldest steps are in full, which are folded first.
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


def _count_folded(blocks: Sequence[Block], waiting: Collection[int]) -> int:
    """Count the newest steps in a row that a model has folded, or whose folds wait."""
    steps = 0
    for block in reversed(blocks):
        written = isinstance(block, Tile) and block.origin == "model"
        if not (written or all(step in waiting for step in block.steps)):
            break
        steps += len(block.steps)
    return steps


@dataclass(frozen=True, slots=True)
class WantedFold:
    """A decided fold that waits: its summary, its steps and its decider."""

    summary: str | None
    first: int
    last: int
    by: By


@dataclass(frozen=True, slots=True)
class Folds:
    """The waiting folds, oldest first, and why others were refused, a line each."""

    waiting: tuple[WantedFold, ...] = ()
    refused: tuple[str, ...] = ()


def add_fold(session: Session, folds: Folds, decided: DecidedStep, scrub: Callable[[str], str]) -> tuple[Folds, str]:
    """Add a decision's fold to the waiting ones, in place of those it covers. Returns them, and why the fold was
    refused (empty: it was not).
    """
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
    """Commit the folds that pay over the remaining steps. Returns the others, with refusals."""
    return _commit(
        session, folds, lambda workspace, fold: _is_worth_committing(workspace, fold, left, session.settings.micro)
    )


def commit_all(session: Session, folds: Folds) -> Folds:
    """Commit every waiting fold as a batch. Returns the refusals."""
    return _commit(session, folds, lambda _workspace, _fold: True)


def _commit(session: Session, folds: Folds, due: Callable[[Workspace, WantedFold], bool]) -> Folds:
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


def _is_worth_committing(workspace: Workspace, fold: WantedFold, left: int, micro: float) -> bool:
    """Decide whether a waiting fold pays; without a summary it is priced at the share `micro` of its steps. Raises
    FoldError: it cannot be made.
    """
    blocks = find_stretch(workspace, fold.first, fold.last)
    at = workspace.blocks.index(blocks[-1]) + 1
    behind = sum(block.tokens for block in workspace.blocks[at:])
    took = price_blocks(*blocks)
    gives = (
        int(micro * took)
        if fold.summary is None
        else price_blocks(write_tile(workspace, blocks, 0, fold.summary, "model"))
    )
    return is_worth_folding(took, gives, behind, left)


# Source: U-Fold keeps a to-do beside the dialogue; here an item of a run closes by evidence alone, the passage that
# answers it or a call that worked.


def apply_todo(session: Session, decided: DecidedStep, scrub: Callable[[str], str]) -> str:
    """Apply a decision's to-do and recalled lines to the session; return why any were refused, empty for none."""
    refused: list[str] = []
    todo = [item.given(scrub) for item in decided.decision.todo]
    parts = [item for item in todo if not _is_task(item.get("text", ""), session.goal)]
    if len(parts) < len(todo):
        refused.append("the task as a whole cannot be an item of the to-do: it is the goal")
    if parts:
        try:
            session.plan(todo=parts, by=By(decided.kind, "decided with a step"))
        except InputError as error:
            refused.append(f"the to-do was left as it was: {error}")
    if decided.decision.recall:
        lines = [each.model_dump() for each in decided.decision.recall]
        try:
            session.extract(selections=lines, by=By(decided.kind))
        except InputError as error:
            refused.append(f"the lines were not shown: {error}")
    return "; ".join(refused)


def close_answered(session: Session, sources: Sequence[Source]) -> None:
    """Close the only open to-do item with the passages of the answer as evidence; of several items none is closed.

    An item that repeats the whole task stays open: a passage answers a part, and the person who asked judges the rest.
    """
    refs = [source.ref for source in sources if source.ref]
    items = session.intent.open
    for item in items if refs and len(items) == 1 and not _is_task(items[0].text, session.goal) else ():
        with suppress(InputError):  # a page that says it failed is no evidence: the item stays open
            session.plan(todo=[{"id": item.id, "state": "done", "evidence": refs}], by=By("embedded", "answered"))


def _is_task(text: str, goal: str) -> bool:
    """Whether an item repeats the goal, white space aside."""
    return bool(text) and " ".join(text.split()).casefold() == " ".join(goal.split()).casefold()
