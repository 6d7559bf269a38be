"""Finding a session in a store, or beginning one. It opens no store and keeps no handle."""

from __future__ import annotations

import time

from ctxfold.errors import UnknownSession
from ctxfold.forest.moves import MAIN
from ctxfold.store.protocol import Reading, Store, Writing
from ctxfold.store.values import HeadRow, SessionRow, TopicRow

__all__ = ["found", "named", "opened"]


def found(store: Store, name: str) -> SessionRow:
    """The session of that name. Raises UnknownSession when it is not there."""
    with store.reading() as tx:
        return named(tx, store, name)


def named(tx: Reading, store: Store, name: str) -> SessionRow:
    """The same, inside a transaction that goes on. Raises UnknownSession when it is not there."""
    row = tx.sessions.named(name)
    if row is None:
        raise UnknownSession(f"no session {name!r} in {store.address}; `ctxfold sessions list` shows those there are")
    return row


def opened(store: Store, name: str) -> tuple[SessionRow, bool]:
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
