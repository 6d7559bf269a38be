"""Applies the fold, to-do and recalled lines of a decision. A fold waits until the past is full, as the prompt cache is
written anew behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from browser_agent.deciders import DecidedStep, Source
from ctxfold import Session
from ctxfold.decisions.fold import find_stretch, write_tile
from ctxfold.errors import FoldError, InputError
from ctxfold.tokens import count
from ctxfold.view.render import View
from ctxfold.workspace import By, Workspace, spans

_SEAM = 4
"""Tokens of overhead of one text part of a context, at most."""


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


@dataclass(frozen=True, slots=True)
class WantedFold:
    """A decided fold that waits: its summary, its steps and its decider."""

    summary: str | None
    first: int
    last: int
    by: By


def add_fold(
    session: Session, waiting: tuple[WantedFold, ...], decided: DecidedStep, scrub: Callable[[str], str]
) -> tuple[tuple[WantedFold, ...], str]:
    """Add a decision's fold to the waiting ones, in place of those it covers. Returns them, and why the fold was
    refused (empty: it was not).
    """
    directive = decided.decision.fold
    if directive is None:
        return waiting, ""
    summary = None if directive.summary is None else scrub(directive.summary)
    try:
        blocks = find_stretch(session.workspace, directive.first_step, directive.last_step)
        if summary is not None:
            write_tile(session.workspace, blocks, 0, summary, "model")
    except FoldError as error:
        return waiting, f"the fold was refused: {error}"
    first, last = blocks[0].steps[0], blocks[-1].steps[-1]
    kept = tuple(fold for fold in waiting if not first <= fold.first <= fold.last <= last)
    return (*kept, WantedFold(summary, first, last, By(decided.kind))), ""


def commit_folds(session: Session, waiting: Sequence[WantedFold]) -> tuple[str, ...]:
    """Commit the waiting folds. Returns why some were refused, a line each."""
    refused: list[str] = []
    for fold in waiting:
        try:
            session.fold(fold.summary, fold.first, fold.last, fold.by)
        except FoldError as error:
            refused.append(f"the fold of {spans(range(fold.first, fold.last + 1))} was refused: {error}")
    return tuple(refused)


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
