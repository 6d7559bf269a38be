"""Keeps a run's to-do in its session: the task opens an item, and evidence closes it."""

# Source: U-Fold keeps a to-do beside the dialogue; here an item of a run closes by evidence alone, the passage that answers it or a call that worked.

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from browser_agent.deciders.protocol import Decided
from browser_agent.deciders.sources import Source
from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.workspace.by import By

__all__ = ["apply_todo", "close_answered", "open_task"]

_ITEM = 300


def open_task(session: Session, task: str) -> None:
    """Open the task as an item of the to-do, unless a model opened items of its own."""
    if not session.intent.open:
        session.plan(todo=[" ".join(task.split())[:_ITEM]], by=By("embedded", "the task"))


def apply_todo(session: Session, decided: Decided, scrub: Callable[[str], str]) -> str:
    """Apply a decision's to-do and recalled lines to the session, and return what was refused and why."""
    refused: list[str] = []
    if decided.decision.todo:
        todo = [item.given(scrub) for item in decided.decision.todo]
        try:
            session.plan(todo=todo, by=By(decided.kind, "decided with a step"))
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
    """Close the one open item by the passages that bear the answer; of several, whoever opened them closes each."""
    refs = [source.ref for source in sources if source.ref]
    items = session.intent.open
    for item in items if refs and len(items) == 1 else ():
        with suppress(InputError):  # a page that says it failed is no evidence: the item stays open
            session.plan(todo=[{"id": item.id, "state": "done", "evidence": refs}], by=By("embedded", "answered"))
