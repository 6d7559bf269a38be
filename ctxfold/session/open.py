"""Opens a store, and finds a session in it or begins it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from ctxfold.config import default_store
from ctxfold.decisions.fold import FoldSettings
from ctxfold.errors import InputError, UnknownSession
from ctxfold.session.branches import MAIN, check_name
from ctxfold.session.decide import goal_set
from ctxfold.session.handle import Handle
from ctxfold.session.validate import as_utf8
from ctxfold.store import is_there, open_store
from ctxfold.store.rows import HeadRow, Reading, SessionRow, TopicRow, Writing
from ctxfold.store.sqlite import Store


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


LARGEST = 60_000
"""Bytes of a picture that is kept."""


def folder_of(store: str, session: str) -> Path | None:
    """Where a session's pictures lie, whether there are any or not; None for a store that is no file."""
    if store == ":memory:" or "://" in store:
        return None
    return Path(f"{store}.pictures") / session


def keep(store: str, session: str, step: int, picture: bytes) -> None:
    """Keep a step's picture, private to its owner; a newer one takes its place. Raises InputError: it is no bytes, is larger, or cannot be written."""
    folder = folder_of(store, session)
    if folder is None:
        return
    if not isinstance(picture, bytes):
        raise InputError(f"a picture is bytes, not {type(picture).__name__}; give those of a JPEG")
    if len(picture) > LARGEST:
        raise InputError(f"a picture of {len(picture)} bytes is not kept; make it {LARGEST} at most")
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        with open(os.open(folder / f"s{step}.jpg", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as out:
            out.write(picture)
    except OSError as error:
        raise InputError(
            f"a picture cannot be written to {folder} ({error.strerror}); leave --screenshots out"
        ) from error


def forget(store: str, session: str) -> None:
    """Remove all of a session's pictures."""
    folder = folder_of(store, session)
    if folder is not None and folder.is_dir():
        shutil.rmtree(folder)
