"""The SQLite store: one connection in WAL mode, with files that only their owner can read.

Where this SQLite needs the guard, the guard goes round every write transaction and checkpoint, and checkpoints happen only under it.

The file is opened by SQLite alone: closing any other descriptor of it would drop the locks of every connection this process has on it (POSIX locks
belong to the process), and the next process to close its own would take itself for the last and remove the WAL beneath us.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path as FilePath

from ctxfold.errors import BusyStore, CorruptStore, CtxfoldError, FullDisk, NotOurStore, ReadOnlyStore, StoreError
from ctxfold.store.cover_rows import CoverRows
from ctxfold.store.forest_rows import ForestRows
from ctxfold.store.guard import Guard, is_needed
from ctxfold.store.log_rows import LogRows
from ctxfold.store.schema import APPLICATION, VERSION, create, upgrade
from ctxfold.store.search_rows import SearchRows
from ctxfold.store.sessions_rows import SessionsRows

__all__ = ["SqliteStore"]

_FOREIGN = "{} is a database of another program; name another file with CTXFOLD_DATABASE_URL or --store"
_WAIT = 30.0
_PATIENCE = 3.0
"""Seconds for which a scrub waits for readers to end. Nobody can write meanwhile."""
_CHECKPOINT_EVERY = 400
_MAKING = threading.Lock()
"""Held while a file is made, so that no other thread has locks on it yet."""


class _Rows:
    """All rows over one connection, inside a transaction that the store opens and ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.sessions = SessionsRows(connection)
        self.forest = ForestRows(connection)
        self.log = LogRows(connection)
        self.cover = CoverRows(connection)
        self.search = SearchRows(connection)


class SqliteStore:
    """Sessions in one SQLite file, or in memory.

    Args:
        address: a path, or `:memory:`.

    Raises:
        NotOurStore: the file is something else.
        ReadOnlyStore: it may not be written.
        CorruptStore: it does not read back.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._memory = address == ":memory:"
        self._lock = threading.RLock()
        self._closed = False
        self._writes = 0
        self._guard: Guard | None = None
        if not self._memory:
            path = FilePath(address).absolute()
            with _MAKING:
                _private(path)
            if is_needed():
                self._guard = Guard(path.with_name(f"{path.name}.lock"), _WAIT)
        with _translated(self.address):
            self._connection = sqlite3.connect(
                address, timeout=_WAIT, isolation_level=None, check_same_thread=False, cached_statements=256
            )
        try:
            self._prepare()
        except CtxfoldError:
            self._connection.close()
            if self._guard is not None:
                self._guard.close()
            raise
        self._rows = _Rows(self._connection)

    def _prepare(self) -> None:
        run = self._connection.execute
        with _translated(self.address), self._guarded():
            application, version = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
            fresh = run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if not fresh and application != APPLICATION:
                raise NotOurStore(_FOREIGN.format(self.address))
            if version > VERSION:
                raise NotOurStore(
                    f"{self.address} was written by a newer ctxfold (store version {version}); upgrade with `pip install -U ctxfold`"
                )
            if not self._memory:
                run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = FULL")
            run("PRAGMA secure_delete = ON")
            run("PRAGMA cache_size = -16000")
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
            busy = f"another process has held {self.address} for {_WAIT:.0f} s; end it or try again"
            raise BusyStore(busy) from error
        except OSError as error:
            barred = f"{self.address} cannot be locked ({error.strerror}); check the rights of its folder or name another store"
            raise ReadOnlyStore(barred) from error
        try:
            yield
        finally:
            self._guard.release()

    @contextmanager
    def reading(self) -> Iterator[_Rows]:
        """A snapshot for the length of the block."""
        with self._lock, _translated(self.address):
            self._check_open()
            self._connection.execute("BEGIN")
            try:
                yield self._rows
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[_Rows]:
        """The right to write for the length of the block; committed at its end, undone on any exception."""
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
                run(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")
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

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.address} was closed; open the session again")


def _private(path: FilePath) -> None:
    """Make the folder and the file private before SQLite opens it."""
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        _check_ours(path)
        if not path.exists():
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        elif not os.access(path, os.W_OK):
            raise ReadOnlyStore(
                f"{path} cannot be written; run `chmod u+w` on it or name another store with CTXFOLD_DATABASE_URL"
            )
    except OSError as error:
        raise ReadOnlyStore(
            f"{path} cannot be written ({error.strerror}); name another store with CTXFOLD_DATABASE_URL"
        ) from error


def _check_ours(path: FilePath) -> None:
    """Refuse what is no store of ours by its first bytes, so that nothing is laid beside a file of somebody else."""
    if path.exists() and not path.is_file():
        raise NotOurStore(f"{path} is not a file; name a file of its own for the store")
    if not path.exists() or path.stat().st_size == 0 or not os.access(path, os.R_OK):
        return
    if _application(path) not in (0, APPLICATION):
        raise NotOurStore(_FOREIGN.format(path))


def _application(path: FilePath) -> int:
    """Whose database a file says it is, 0 for nobody's, and where its log must be read to tell. The file is only looked at: as immutable, so that no log is
    laid beside it and no lock is taken.

    Raises:
        NotOurStore: it is no database.
        StoreError: it does not read.
    """
    with _translated(str(path)), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as looking:
        try:
            return int(looking.execute("PRAGMA application_id").fetchone()[0])
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") != "SQLITE_CORRUPT":
                raise
            return 0  # its pages are behind its log; opened in full it reads, or is damaged


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


@contextmanager
def _translated(address: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, address) from error


def _translate(error: sqlite3.Error, address: str) -> StoreError:
    name = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
    for beginnings, kind, message in _ERRORS:
        if name.startswith(beginnings):
            return kind(message.format(address))
    if name.startswith("CORRUPT") or (isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error)):
        return CorruptStore(
            f"{address} is damaged ({error}); restore a copy, or export what still reads with `ctxfold sessions export`"
        )
    if isinstance(error, sqlite3.IntegrityError | sqlite3.InterfaceError | sqlite3.ProgrammingError):
        return CorruptStore(f"{address} cannot hold a row as it is ({error}); run `ctxfold doctor`")
    return StoreError(f"{address}: {error}; run `ctxfold doctor`")
