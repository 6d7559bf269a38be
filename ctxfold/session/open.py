"""Opens a store and finds a session in it."""

from __future__ import annotations

from ctxfold import config
from ctxfold.errors import UnknownSession
from ctxfold.session.history.branches import check_name
from ctxfold.session.validate import as_utf8
from ctxfold.store import is_there, open_store
from ctxfold.store.sqlite import Reading, Store
from ctxfold.store.values import SessionRow

__all__ = ["address_of", "named", "store_at", "store_of"]


def address_of(given: str | None) -> str:
    """Where a store is: what was given, else the configured default. Raises InputError for what cannot be an address."""
    if given is None or given == "":
        return config.default_store()
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
