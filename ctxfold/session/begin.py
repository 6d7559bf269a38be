"""Finds a session or begins one, and makes a handle on it."""

from __future__ import annotations

import time

from ctxfold.decisions.fold.settings import FoldSettings
from ctxfold.session.fold import goal_set
from ctxfold.session.handle import Handle
from ctxfold.session.history.branches import MAIN
from ctxfold.session.open import named, store_of
from ctxfold.store.sqlite import Store, Writing
from ctxfold.store.values import HeadRow, SessionRow, TopicRow

__all__ = ["handle_of"]


def handle_of(
    name: str, goal: str | None, store: str | None, create: bool, settings: FoldSettings
) -> tuple[Handle, bool]:
    """A handle on a session, and whether it had to be begun; arguments and errors are those of `Session.open`."""
    kept = store_of(name, store, create)
    try:
        row, made = _opened(kept, name) if create else (_found(kept, name), False)
        handle = Handle(kept, row.id, row.current or 1, settings)
        if words := (goal or "").strip():
            with handle.writing() as tx:
                goal_set(tx, handle, words)
        return handle, made
    except BaseException:
        kept.close()
        raise


def _found(store: Store, name: str) -> SessionRow:
    """The session of that name. Raises UnknownSession when it is not there."""
    with store.reading() as tx:
        return named(tx, store, name)


def _opened(store: Store, name: str) -> tuple[SessionRow, bool]:
    """The session of that name, and whether it had to be begun."""
    with store.reading() as tx:
        row = tx.sessions.named(name)
    if row is not None:
        return row, False
    with store.writing() as tx:
        row = tx.sessions.named(name)
        return (row, False) if row is not None else (_begun(tx, name), True)


def _begun(tx: Writing, name: str) -> SessionRow:
    row = tx.sessions.add(name, time.time())
    tx.forest.add_topic(row.id, TopicRow(1, MAIN))
    tx.forest.add_head(row.id, HeadRow(1, MAIN, 1, 0, row.created))
    tx.sessions.settle(row.id, 1)
    return row
