"""The SQLite adapter: one connection, WAL, synchronous FULL, files private to their owner. It knows rows, never what they mean.

SQLite before 3.51.3 can corrupt a WAL when several connections write and checkpoint at one moment. On such a version a file lock
goes round every write transaction and checkpoint, and checkpoints happen only under it.

The file is opened by SQLite alone: closing any other descriptor of it would drop the locks of every connection this process has on it (POSIX locks
belong to the process), and the next process to close its own would take itself for the last and remove the WAL beneath us.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path as FilePath

from ctxfold.errors import BusyStore, CorruptStore, CtxfoldError, FullDisk, NotOurStore, ReadOnlyStore, StoreError
from ctxfold.store.guard import Guard
from ctxfold.store.rows import Rows

__all__ = ["AFFECTED_BELOW", "SqliteStore"]

AFFECTED_BELOW = (3, 51, 3)
"""The first SQLite version whose WAL needs no guard."""
_APPLICATION = 0x63747866
_VERSION = 6
_BRINGS = {
    1: ("event", "intent"),
    2: ("session", "budget"),
    3: ("event", "guide"),
    4: ("fact", "era"),
    5: ("unscrubbed", "id"),
}
"""Of each upgrade a table and a column that it brings: where that is there already, it is done, whatever the version says."""
_WAIT = 30.0
_PATIENCE = 3.0
"""Seconds for which a scrub waits for readers to end. Nobody can write meanwhile."""
_CHECKPOINT_EVERY = 400
_MAKING = threading.Lock()
"""Held while a file is made, so that no other thread has locks on it yet."""


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
            if sqlite3.sqlite_version_info < AFFECTED_BELOW:
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
        self._rows = Rows(self._connection)

    def _prepare(self) -> None:
        run = self._connection.execute
        with _translated(self.address), self._guarded():
            application, version = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
            fresh = run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if not fresh and application != _APPLICATION:
                raise NotOurStore(
                    f"{self.address} is a database of another program; name another file with CTXFOLD_DATABASE_URL or --store"
                )
            if version > _VERSION:
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
                schema = files("ctxfold.store").joinpath("sql", "schema.sql").read_text("utf-8")
                self._connection.executescript(
                    f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_VERSION}; {schema} COMMIT;"
                )
            elif version < _VERSION:
                self._upgrade(version)

    def _upgrade(self, version: int) -> None:
        """Bring an older store up to this version, in one transaction; nothing happens when another process was faster."""
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        try:
            for older in range(run("PRAGMA user_version").fetchone()[0] or version, _VERSION):
                if not run("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", _BRINGS[older]).fetchall():
                    script = files("ctxfold.store").joinpath("sql", f"upgrade_{older}.sql").read_text("utf-8")
                    words = "".join(line for line in script.splitlines(keepends=True) if not line.startswith("--"))
                    for statement in filter(str.strip, words.split(";")):
                        run(statement)
                run(f"PRAGMA user_version = {older + 1}")
            run("COMMIT")
        except BaseException:
            run("ROLLBACK")
            raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        if self._guard is None:
            yield
            return
        try:
            self._guard.acquire()
        except TimeoutError as error:
            raise BusyStore(
                f"another process has held {self.address} for {_WAIT:.0f} s; end it or try again"
            ) from error
        except OSError as error:
            raise ReadOnlyStore(
                f"{self.address} cannot be locked ({error.strerror}); check the rights of its folder or name another store"
            ) from error
        try:
            yield
        finally:
            self._guard.release()

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """A snapshot for the length of the block."""
        with self._lock, _translated(self.address):
            self._check_open()
            self._connection.execute("BEGIN")
            try:
                yield self._rows
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[Rows]:
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
            with self.reading() as _:
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
    if _application(path) not in (0, _APPLICATION):
        raise NotOurStore(
            f"{path} is a database of another program; name another file with CTXFOLD_DATABASE_URL or --store"
        )


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


@contextmanager
def _translated(address: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _ours(error, address) from error


def _ours(error: sqlite3.Error, address: str) -> StoreError:
    code = getattr(error, "sqlite_errorname", "") or ""
    words = str(error)
    if code.startswith("SQLITE_NOTADB"):
        return NotOurStore(f"{address} is not a ctxfold store; name another file with CTXFOLD_DATABASE_URL or --store")
    if code.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN")):
        return ReadOnlyStore(
            f"{address} cannot be written; check its rights or name another store with CTXFOLD_DATABASE_URL"
        )
    if code.startswith(
        ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE", "SQLITE_IOERR_SHMSIZE")
    ):
        return FullDisk(
            f"no space left for {address}; everything committed before is kept: free some space and try again"
        )
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BusyStore(f"another process holds {address}; end it or try again")
    if code.startswith("SQLITE_CORRUPT") or (isinstance(error, sqlite3.DatabaseError) and "malformed" in words):
        return CorruptStore(
            f"{address} is damaged ({words}); restore a copy, or export what still reads with `ctxfold sessions export`"
        )
    if isinstance(error, sqlite3.IntegrityError | sqlite3.InterfaceError | sqlite3.ProgrammingError):
        return CorruptStore(f"{address} cannot hold a row as it is ({words}); run `ctxfold doctor`")
    return StoreError(f"{address}: {words}; run `ctxfold doctor`")
