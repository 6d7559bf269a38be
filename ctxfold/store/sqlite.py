"""The SQLite store: one connection in WAL mode, with files that only their owner can read.

Where this SQLite needs the guard, the guard goes round every write transaction and checkpoint, and checkpoints happen only under it.

The file is opened by SQLite alone: closing any other descriptor of it would drop the locks of every connection this process has on it (POSIX locks
belong to the process), and the next process to close its own would take itself for the last and remove the WAL beneath us.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from ctxfold.errors import BusyStore, CorruptStore, CtxfoldError, FullDisk, NotOurStore, ReadOnlyStore, StoreError
from ctxfold.store.codec import register
from ctxfold.store.cover_rows import CoverRows
from ctxfold.store.files import FOREIGN, WAIT, connect, connect_frozen, make_private
from ctxfold.store.forest_rows import ForestRows
from ctxfold.store.guard import Guard, is_needed
from ctxfold.store.log_rows import LogRows
from ctxfold.store.schema import APPLICATION, VERSION, create, upgrade
from ctxfold.store.search_rows import SearchRows
from ctxfold.store.sessions_rows import SessionsRows

__all__ = ["Reading", "Store", "Writing"]

_PATIENCE = 3.0
"""Seconds for which a scrub waits for readers to end. Nobody can write meanwhile."""
_CHECKPOINT_EVERY = 400


class Reading:
    """A consistent snapshot of the store.

    Reading a row that is not what was written raises CorruptStore. A tile's body, which the log may make anew, is empty then.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.sessions = SessionsRows(connection)
        self.forest = ForestRows(connection)
        self.log = LogRows(connection)
        self.cover = CoverRows(connection)
        self.search = SearchRows(connection)


class Writing(Reading):
    """The exclusive right to write, until it commits. Only within it may what changes rows be called."""

    def drop(self, session: int) -> None:
        """Remove a session and whatever only it referenced."""
        for record in self.log.entries_of(session):
            self.log.unindex(record)
        self.sessions.drop(session)
        self.log.sweep()


class Store:
    """Sessions in one SQLite file, or in memory.

    Args:
        address: a path, or `:memory:`.

    A file that may not be written is read as it is; what would write to it raises ReadOnlyStore.

    Raises:
        NotOurStore: the file is something else.
        ReadOnlyStore: it can be neither made nor read where it is.
        CorruptStore: it does not read back.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._memory = address == ":memory:"
        self._lock = threading.RLock()
        self._closed = False
        self._writes = 0
        self._guard: Guard | None = None
        with _translated(address):
            path = Path(address).absolute()
            self._frozen = not self._memory and not make_private(path)
            if is_needed() and not self._memory and not self._frozen:
                self._guard = Guard(path.with_name(f"{path.name}.lock"), WAIT)
            self._connection = connect_frozen(path) if self._frozen else connect(address)
        register(self._connection)
        try:
            self._prepare()
        except CtxfoldError:
            self._connection.close()
            if self._guard is not None:
                self._guard.close()
            raise
        self._rows = Writing(self._connection)

    def _prepare(self) -> None:
        run = self._connection.execute
        with _translated(self.address), self._guarded():
            application, version = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
            fresh = run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if not fresh and application != APPLICATION:
                raise NotOurStore(FOREIGN.format(self.address))
            if version > VERSION:
                raise NotOurStore(
                    f"{self.address} was written by a newer ctxfold (store version {version}); upgrade with `pip install -U ctxfold`"
                )
            run("PRAGMA cache_size = -16000")
            run("PRAGMA cell_size_check = ON")
            if self._frozen:
                if version < VERSION:
                    raise ReadOnlyStore(
                        f"{self.address} was written by an older ctxfold and may not be written here; open a copy of it that may, with --store"
                    )
                return
            if not self._memory:
                run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = FULL")
            run("PRAGMA secure_delete = ON")
            if self._guard is not None:
                run("PRAGMA wal_autocheckpoint = 0")
            if fresh:
                create(self._connection)
            elif version < VERSION:
                upgrade(self._connection)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        if self._guard is None:
            yield
            return
        try:
            self._guard.acquire()
        except TimeoutError as error:
            busy = f"another process has held {self.address} for {WAIT:.0f} s, so it is stopped or hangs; let it go on or end it, then try again"
            raise BusyStore(busy) from error
        except OSError as error:
            barred = f"{self.address} cannot be locked ({error.strerror}); check the rights of its folder or name another store"
            raise ReadOnlyStore(barred) from error
        try:
            yield
        finally:
            self._guard.release()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A snapshot for the length of the block."""
        with self._lock, _translated(self.address):
            self._check_open()
            self._connection.execute("BEGIN")
            try:
                yield self._rows
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """The right to write for the length of the block; committed at its end, undone on any exception."""
        if self._frozen:
            raise ReadOnlyStore(
                f"{self.address} may not be written, so it is only read; change its rights, or name another store with CTXFOLD_DATABASE_URL"
            )
        with self._lock, _translated(self.address), self._guarded():
            self._check_open()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._rows
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._writes += 1
            if self._guard is not None and self._writes % _CHECKPOINT_EVERY == 0:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def scrub(self) -> None:
        """Rewrite the file so that nothing removed remains in it, the write-ahead log included.

        Raises:
            BusyStore: another connection reads what was before, or writes. What was removed is gone for every reader to come, but its bytes remain.
            StoreError: the same, for another reason.
        """
        try:
            with self._lock, _translated(self.address), self._guarded():
                self._check_open()
                self._rewrite()
        except StoreError as error:
            busy = isinstance(error, BusyStore)
            why = f"another process is at work in {self.address}; wait for it or end it" if busy else str(error)
            raise type(error)(
                f"the removal is committed, but the old bytes are still in the file: {why}, then run `ctxfold doctor`, which takes them out"
            ) from error

    def _rewrite(self) -> None:
        run = self._connection.execute
        upto = run("SELECT ifnull(max(id), 0) FROM unscrubbed").fetchone()[0]
        run("INSERT INTO fts (fts) VALUES ('optimize')")
        run("VACUUM")
        if not self._memory:
            run(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")
            try:
                busy = run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                run(f"PRAGMA busy_timeout = {WAIT * 1000:.0f}")
            if busy:
                raise BusyStore(f"another process reads {self.address}; end it or try again")
        run("DELETE FROM unscrubbed WHERE id <= ?", (upto,))

    def finish(self) -> bool:
        """Scrub where that is due. Returns whether it is not due any more; where it must wait longer, nothing is raised."""
        with suppress(StoreError), self._lock:
            with self.reading():
                due = self._connection.execute("SELECT 1 FROM unscrubbed LIMIT 1").fetchone() is not None
            if due:
                self.scrub()
            return True
        return False

    def close(self) -> None:
        """Finish what can be finished, and give up the connection. Closing twice is harmless."""
        with self._lock:
            if self._closed:
                return
            self.finish()
            self._closed = True
            with _translated(self.address), self._guarded():
                self._connection.close()
            if self._guard is not None:
                self._guard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.address} was closed; open the session again")


_ERRORS: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
    (("NOTADB",), NotOurStore, "{} is not a ctxfold store; name another file with CTXFOLD_DATABASE_URL or --store"),
    (
        ("READONLY", "PERM", "CANTOPEN"),
        ReadOnlyStore,
        "{} cannot be written; check its rights or name another store with CTXFOLD_DATABASE_URL",
    ),
    (
        ("FULL", "IOERR_WRITE", "IOERR_FSYNC", "IOERR_TRUNCATE", "IOERR_SHMSIZE"),
        FullDisk,
        "no space left for {}; everything committed before is kept: free some space and try again",
    ),
    (("BUSY", "LOCKED"), BusyStore, "another process holds {}; end it or try again"),
)
"""By the beginning of SQLite's name for an error: ours, and its message."""


_DAMAGE = ("malformed", "user-defined function raised", "Could not decode to UTF-8")
"""What SQLite says of pages that are none, of a row whose checksum cannot be made, and of a text that is none."""


@contextmanager
def _translated(address: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, address) from error
    except UnicodeDecodeError as error:  # of SQLite's own message: it quotes what it could not make sense of
        raise _damaged(address, error.reason) from error


def _damaged(address: str, why: str) -> CorruptStore:
    return CorruptStore(
        f"{address} is damaged ({why}); restore a copy, or run `ctxfold doctor --salvage NEW-FILE`, which takes over what still reads"
    )


def _translate(error: sqlite3.Error, address: str) -> StoreError:
    name = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
    for beginnings, kind, message in _ERRORS:
        if name.startswith(beginnings):
            return kind(message.format(address))
    if name.startswith("CORRUPT") or any(sign in str(error) for sign in _DAMAGE):
        return _damaged(address, str(error))
    if isinstance(error, sqlite3.IntegrityError | sqlite3.InterfaceError | sqlite3.ProgrammingError):
        return CorruptStore(f"{address} cannot hold a row as it is ({error}); run `ctxfold doctor`")
    return StoreError(f"{address}: {error}; run `ctxfold doctor`")
