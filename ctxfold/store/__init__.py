"""Where sessions are kept: opens the store of an address, and hands out the right to read or write it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, Self

from ctxfold.errors import InputError, NotOurStore, StoreError
from ctxfold.store.rows import Reading, Writing

__all__ = ["Connection", "Store", "is_there", "open_store"]


class Connection(Protocol):
    """What rows need of a database. SQL has named parameters, `:name`; every error is a StoreError."""

    def run(self, sql: str, **values: object) -> None:
        """Run one statement."""

    def rows(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """All rows of one query, or of a statement that ends in RETURNING."""

    def begin(self, *, write: bool) -> None:
        """Begin a transaction: a snapshot to read, or the exclusive right to write."""

    def commit(self, *, keep: bool = True) -> None:
        """End the transaction. What it changed is kept, or else undone."""


class Database(Connection, Protocol):
    """A connection that a store can end, and make forget what was removed."""

    def scrub(self) -> None:
        """Rewrite the file so that nothing removed remains in it."""

    def check(self) -> None:
        """Look for damage in all of the file. Raises CorruptStore."""

    def close(self) -> None:
        """End the connection."""


class Store:
    """Sessions in one database, used by any threads of this process in turn.

    ```python
    with open_store("trip.db") as store, store.reading() as tx:
        print(tx.sessions.names())
    ```
    """

    def __init__(self, address: str, db: Database) -> None:
        self.address = address
        self._db = db
        self._rows = Writing(db)
        self._lock = threading.RLock()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A snapshot for the length of the block."""
        with self._transaction(write=False) as rows:
            yield rows

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """The right to write for the length of the block: committed at its end, undone on any exception."""
        with self._transaction(write=True) as rows:
            yield rows

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Writing]:
        with self._lock:
            self._check_open()
            self._db.begin(write=write)
            try:
                yield self._rows
            except BaseException:
                self._db.commit(keep=False)
                raise
            self._db.commit(keep=write)

    def scrub(self) -> None:
        """Rewrite the file so that nothing removed remains in it, the write-ahead log included.

        Raises:
            BusyStore: another process reads or writes. No reader to come sees what was removed, but its bytes remain.
            StoreError: the same, for another reason.
        """
        with self._lock:
            self._check_open()
            try:
                self._db.scrub()
            except StoreError as error:
                raise type(error)(
                    f"the removal is committed, but the old bytes are still in the file: {error}; "
                    "then run `ctxfold doctor`, which takes them out"
                ) from error

    def finish(self) -> bool:
        """Scrub where that is due. Returns whether nothing is left to do; raises nothing where it must wait longer."""
        with suppress(StoreError), self._lock:
            with self.reading() as rows:
                due = rows.is_scrub_due()
            if due:
                self.scrub()
            return True
        return False

    def check(self) -> None:
        """Look for damage in all of the file. Raises CorruptStore."""
        with self._lock:
            self._check_open()
            self._db.check()

    def close(self) -> None:
        """Finish what can be finished, and end the connection. Closing twice is harmless."""
        with self._lock:
            if not self._closed:
                self.finish()
                self._closed = True
                self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.address} was closed; open the session again")


def open_store(address: str) -> Store:
    """The store at an address, which is made where there is none.

    Args:
        address: `:memory:`, a path, or `sqlite:///path`.

    Raises:
        InputError: not a path: a NUL character, or a `file:` address.
        NotOurStore: an address of an unknown kind, or the file of another program.
        StoreError: it cannot be opened.
    """
    from ctxfold.store.sqlite import Sqlite

    place = _find_file(address)
    return Store(place, Sqlite(place))


def is_there(address: str) -> bool:
    """Whether there is a store at an address, so that a reader makes none. True where only opening it can tell.

    Raises:
        InputError: not a path: a NUL character, or a `file:` address.
        NotOurStore: an address of an unknown kind.
    """
    try:
        os.stat(_find_file(address))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def _find_file(address: str) -> str:
    """The file of an address, or `:memory:`."""
    if "\0" in address:
        raise InputError("a store's path holds no NUL character; give a path or sqlite:///path")
    if address.startswith("file:"):
        raise InputError("this version does not know file: addresses; give the path alone, or sqlite:///path")
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    if scheme == "sqlite" and rest:
        return rest.removeprefix("/") if rest.startswith("//") else rest
    raise NotOurStore(f"this version does not know {scheme}:// addresses; give a path or sqlite:///path")
