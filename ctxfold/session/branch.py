"""Makes and commits the branch decision, within the session's write transaction."""

from __future__ import annotations

from dataclasses import replace

from ctxfold.decisions.branch.checks import check_wish
from ctxfold.decisions.branch.embedded import ranked
from ctxfold.decisions.branch.values import BranchMove, Move, RankedBranch, Wish
from ctxfold.errors import InputError
from ctxfold.session.handle import Handle
from ctxfold.session.history.branches import move
from ctxfold.session.validate import as_text
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.workspace.by import By

__all__ = ["branched"]


def branched(
    tx: Writing, now: Handle, action: Wish, query: str | None, where: tuple[int | None, str | None], by: By
) -> Move:
    """Go where a host or a model says; for `auto` stay, and say which branches a message is like.

    Raises:
        InputError: no such move, nothing to compare, or a message, step or name that the move has no use for.
        BranchError: an unknown or taken name, or a step that is on no branch.
    """
    at, to = where
    check_wish(as_text(action), query, at, to)
    place = now.place(tx)
    found = _ranked(tx, now, query) if action == "auto" else ()
    wish = BranchMove("continue" if action == "auto" else action, at, to, by.reason, by.decider)
    head, state = move(tx, place.session, place.head, wish)
    if head.id != now.branch or wish.action == "rename":
        now.stand(head.id)
    topic = next(topic.name for topic in tx.forest.topics(place.session) if topic.id == head.topic)
    return Move(head.name, topic, state.tip, wish.action, wish.reason, found)


def _ranked(tx: Reading, now: Handle, query: str | None) -> tuple[RankedBranch, ...]:
    """The branches by likeness to a message, or to the user's last words where none is given. Raises InputError: there is no message."""
    forest = now.forest(tx)
    message = query or ""
    if query is None and forest.path:
        message, forest = forest.path[-1].said, replace(forest, path=forest.path[:-1])
    if not message.strip():
        raise InputError("nothing to compare the branches with; give the user's message as the query")
    return ranked(forest, message)
