"""A run's to-do in its session: the task opened as items, what a decision says of them, and what an answer's evidence closes. It decides nothing and does nothing.

Source: U-Fold keeps a to-do beside the dialogue; here an item of a run closes by evidence alone, the passage that answers it or a call that worked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from browser_agent.deciders.protocol import Decided
from browser_agent.deciders.sources import Source
from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.text import query_words
from ctxfold.workspace.by import By

__all__ = ["answered", "applied", "opened"]

_ITEM = 300
_SHARE = 0.3
"""Of an item's telling words, what an answer must hold to have answered it, where it is one of several."""


def opened(session: Session, task: str, cause: str = "intent change: the task") -> None:
    """The task as an item, in its own words.

    Args:
        session: its last record holds the task.
        task: the task.
        cause: why, for the history.
    """
    if not session.intent.open:
        session.plan(todo=[" ".join(task.split())[:_ITEM]], by=By("embedded", cause))


def applied(session: Session, decided: Decided, scrub: Callable[[str], str]) -> str:
    """What a decision says of the to-do and of lines it wants to see. Returns what was refused, and why; empty when nothing was."""
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


def answered(session: Session, said: str, sources: Sequence[Source]) -> None:
    """Close what an answer with a passage answers: the one open item, or of several those it speaks of. An answer without one closes nothing.

    Args:
        session: the run's session.
        said: the answer with its passages.
        sources: the passages, with the records they stand in.
    """
    refs = [source.ref for source in sources if source.ref]
    items = session.intent.open
    if not refs or not items:
        return
    about = frozenset(query_words(said))
    met = [item for item in items if len(items) == 1 or _shared(item.text, about) >= _SHARE]
    for item in met:
        with suppress(InputError):  # a passage whose record is gone is no evidence: the item stays open
            session.plan(todo=[{"id": item.id, "state": "done", "evidence": refs}], by=By("embedded", "answered"))


def _shared(text: str, about: frozenset[str]) -> float:
    """The share of a text's words that stand among others."""
    asked = frozenset(query_words(text))
    return len(asked & about) / len(asked) if asked else 0.0
