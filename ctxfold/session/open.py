"""Opens a store, and finds a session in it or begins it."""

from __future__ import annotations

import time

from ctxfold.config.environment import default_store
from ctxfold.decisions.fold.settings import FoldSettings
from ctxfold.errors import UnknownSession
from ctxfold.session.fold import goal_set
from ctxfold.session.handle import Handle
from ctxfold.session.history.branches import MAIN, check_name
from ctxfold.session.validate import as_utf8
from ctxfold.store import is_there, open_store
from ctxfold.store.sqlite import Reading, Store, Writing
from ctxfold.store.values import HeadRow, SessionRow, TopicRow

__all__ = ["address_of", "handle_of", "named", "store_at", "store_of"]


def address_of(given: str | None) -> str:
    """Where a store is: what was given, else the configured default. Raises InputError for what cannot be an address."""
    if given is None or given == "":
        return default_store()
    return as_utf8(given, "the address of a store")


def store_at(given: str | None) -> Store:
    """The store at an address, as of `address_of`. Raises StoreError when it cannot be opened."""
    return open_store(address_of(given))


def store_of(name: str, given: str | None, create: bool) -> Store:
    """The same, for a session; raises UnknownSession where that is not to be begun and no store was made yet."""
    address = address_of(given)
    if not create and not is_there(address):
        raise UnknownSession(f"no session {name!r}: there is no store at {address} yet; name another, or begin it")
    return open_store(address)


def named(tx: Reading, store: Store, name: str) -> SessionRow:
    """The same, inside a transaction that goes on. Raises UnknownSession when it is not there, SessionNameError when it could not be."""
    row = tx.sessions.named(check_name(name))
    if row is None:
        raise UnknownSession(f"no session {name!r} in {store.address}; `ctxfold sessions list` shows those there are")
    return row


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
