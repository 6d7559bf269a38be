"""Where sessions are kept. Adapters stand behind one protocol; an address says which."""

from __future__ import annotations

from ctxfold.errors import InputError, NotOurStore
from ctxfold.store.protocol import Reading, Store, Writing

__all__ = ["Reading", "Store", "Writing", "open_store"]


def open_store(address: str) -> Store:
    """The store at an address.

    Args:
        address: `:memory:`, a path, or `sqlite:///path`.

    Raises:
        InputError: no path: one with a NUL character, or a `file:` address.
        NotOurStore: an address of a kind that is not known, or a file that is something else.
        StoreError: it cannot be opened.
    """
    from ctxfold.store.sqlite import SqliteStore

    if "\0" in address:
        raise InputError("a store's path holds no NUL character; give a path or sqlite:///path")
    if address.startswith("file:"):
        raise InputError("file: is not a store this version knows; give the path alone, or sqlite:///path")
    scheme, mark, rest = address.partition("://")
    if not mark:
        return SqliteStore(address)
    if scheme == "sqlite" and rest:
        return SqliteStore(rest.removeprefix("/") if rest.startswith("//") else rest)
    raise NotOurStore(f"{scheme}:// is not a store this version knows; give a path or sqlite:///path")
