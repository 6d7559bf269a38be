"""Keeps a run's to-do in its session: a decider opens items, and evidence closes them; the task itself is the goal, and no item."""

# Source: U-Fold keeps a to-do beside the dialogue; here an item of a run closes by evidence alone, the passage that answers it or a call that worked.

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from browser_agent.deciders.protocol import Decided
from browser_agent.deciders.sources import Source
from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.workspace.by import By

__all__ = ["apply_todo", "close_answered"]


def apply_todo(session: Session, decided: Decided, scrub: Callable[[str], str]) -> str:
    """Apply a decision's to-do and recalled lines to the session, and return what was refused and why."""
    refused: list[str] = []
    todo = [item.given(scrub) for item in decided.decision.todo]
    parts = [item for item in todo if not _is_task(item.get("text", ""), session.goal)]
    if len(parts) < len(todo):
        refused.append("the task as a whole is no item of the to-do: it stands as the goal")
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
    """Close the one open item by the passages that bear the answer; of several, whoever opened them closes each.

    An item that is the whole task stays as it is: a passage answers a part, and who asked judges the rest.
    """
    refs = [source.ref for source in sources if source.ref]
    items = session.intent.open
    for item in items if refs and len(items) == 1 and not _is_task(items[0].text, session.goal) else ():
        with suppress(InputError):  # a page that says it failed is no evidence: the item stays open
            session.plan(todo=[{"id": item.id, "state": "done", "evidence": refs}], by=By("embedded", "answered"))


def _is_task(text: str, goal: str) -> bool:
    """Whether an item says all that the goal says, white space aside."""
    return bool(text) and " ".join(text.split()).casefold() == " ".join(goal.split()).casefold()
