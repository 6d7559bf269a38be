"""A store in one SQLite file, in WAL mode, that only its owner can read: opening it, its lock, its errors, its scrub.

A lock of our own is held during each write and checkpoint, and checkpoints happen only under it: SQLite before 3.51.3
can lose the WAL when a checkpoint and a write meet (the WAL-reset fault), and its own lock is not given in turn.

Only SQLite opens the file. Closing any other descriptor of it would drop the locks of every connection that this
process has on it (POSIX locks belong to the process), and the next process to close its own would take itself for the
last one and remove the WAL that we still use.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from ctxfold.errors import BusyStore, CorruptStore, FullDisk, NotOurStore, ReadOnlyStore, StoreError
from ctxfold.store.rows import Reading, Writing, damaged
from ctxfold.store.search import INDEX
from ctxfold.store.tables import TABLES

if sys.platform == "win32":
    import msvcrt

    def _set_lock(file: int, lock: bool) -> None:
        os.lseek(file, 0, os.SEEK_SET)  # it locks from there
        msvcrt.locking(file, msvcrt.LK_NBLCK if lock else msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _set_lock(file: int, lock: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB if lock else fcntl.LOCK_UN)


_T = TypeVar("_T")
APPLICATION = 0x63747866
"""The number in a file's header that marks it as ours ("ctxf")."""
VERSION = 9
"""Of the tables. Only this version is read."""
WAIT = 30.0
"""Seconds to wait for another process that writes: it writes for milliseconds unless it hangs."""
PATIENCE = 3.0
"""Seconds for which a scrub waits for readers to end. Nobody can write meanwhile."""
_LOG_PAGES = 500
"""Pages of the write-ahead log after which a commit takes it into the file."""
_READER = "PRAGMA cache_size = -16000; PRAGMA cell_size_check = ON;"
_WRITER = (
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
    f"PRAGMA wal_autocheckpoint = {_LOG_PAGES};"
)
"""The settings of a connection, and of one that may write."""
_MARGIN = 500_000
"""Bytes by which the reserve is larger than the write-ahead log: one commit may add as much."""
_FREED_PAGES = 64
"""Free pages that are given back at a time on a full disk."""
_SHORTEST, _LONGEST = 0.000_5, 0.02
"""Seconds between two tries for the lock, which is held for the length of a commit."""
_FULL = "no space left for {}; everything committed before is kept: free some space and try again"
_FOREIGN = "{} is empty or of another program; restore a copy, or name another file with --store"


def sqlite_version() -> str:
    """The version of the SQLite in use."""
    return sqlite3.sqlite_version


class Guard:
    """The right to write to a store, held by one process at a time. `wait`: seconds to wait for another holder.

    The file to lock is made in the folder of the store, private to its owner. A store in memory needs none: None.
    """

    def __init__(self, store: Path | None, wait: float = WAIT) -> None:
        self._store = store
        self._path = store and store.with_name(f"{store.name}.lock")
        self._wait = wait
        self._file: int | None = None
        self._gave_up = False

    def acquire(self) -> None:
        """Take it. Raises BusyStore: another process keeps it; ReadOnlyStore: the file cannot be used."""
        until = time.monotonic() + self._wait
        pause = _SHORTEST
        while not self._try():
            left = until - time.monotonic()
            if left <= 0:
                raise BusyStore(
                    f"another process has held {self._store} for {self._wait:.0f} s; let it go on or end it"
                )
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST)

    def _try(self) -> bool:
        """Try once. A file that was removed or replaced since it was opened guards nothing: its successor is taken."""
        if self._path is None:
            return True
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise ReadOnlyStore(f"{self._store} cannot be locked ({error.strerror}); name another store") from error
        try:
            _set_lock(self._file, True)
        except (BlockingIOError, PermissionError):  # POSIX, Windows
            return False
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._file), os.stat(self._path)):
                return True
        self.close()
        return False

    def release(self) -> None:
        """Let others have it."""
        if self._file is not None:
            _set_lock(self._file, False)

    def reserve(self, size: int) -> None:
        """Let the locked file have so many bytes, unless they were given up. Raises FullDisk: the disk is full."""
        if self._file is None or self._gave_up or os.lseek(self._file, 0, os.SEEK_END) >= size:
            return
        try:
            if sys.platform == "linux":
                os.posix_fallocate(self._file, 0, size)
            else:
                os.write(self._file, bytes(size - os.lseek(self._file, 0, os.SEEK_END)))
        except OSError as error:
            raise FullDisk(_FULL.format(self._store)) from error

    def give_up_reserve(self) -> None:
        """Give back the bytes of the locked file, and ask for none again."""
        self._gave_up = True
        if self._file is not None:
            os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Give up the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()


class Store:
    """Sessions in one SQLite file, or in memory, used by any threads of this process in turn.

    ```python
    with open_store("trip.db") as store, store.reading() as tx:
        print(tx.sessions.names())
    ```

    Raises:
        NotOurStore: the file belongs to another program, or to another version of this one.
        ReadOnlyStore: it can neither be made nor be read.
        CorruptStore: it does not read back.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._rows = Writing(self.query)
        self._lock = threading.RLock()
        self._closed = False
        path, memory = Path(address).absolute(), address == ":memory:"
        with _translate_errors(address):
            self._frozen = not memory and not _make_private(path)
            self._guard = Guard(None if memory or self._frozen else path)
            self._connection = _connect_frozen(path) if self._frozen else _connect(address)
            try:
                if memory:
                    _create(self._connection)
                _check_version(self._connection, address)
                with self._guard:
                    self._connection.executescript(_READER if self._frozen else _READER + _WRITER)
            except BaseException:
                self._connection.close()
                raise

    def query(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """Run one statement, and return its rows; none but of a query, or of a statement that ends in RETURNING."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _translate(error, self.address) from error

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A snapshot for the length of the block."""
        with self._lock:
            self._check_open()
            with self._transaction("BEGIN"):
                yield self._rows

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """The right to write for the length of the block: committed at its end, undone on any exception."""
        with self._lock:
            self._check_open()
            if self._frozen:
                move = "change its rights, or name another with --store"
                raise ReadOnlyStore(f"{self.address} may not be written; {move}")
            with self._guard:
                self._guard.reserve(self._log_size() + _MARGIN)
                with self._transaction("BEGIN IMMEDIATE"):
                    yield self._rows
                    self.query("COMMIT")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """A transaction for the length of the block, undone unless the block committed it."""
        try:
            self.query(begin)  # an interrupt may come once it holds
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def remove(self, remove: Callable[[Writing], _T]) -> _T:
        """What a removal returns that is called with the right to write. On a full disk, room for it is made first."""
        try:
            with self.writing() as rows:
                return remove(rows)
        except FullDisk:
            with self._guard:
                self._free()
            with self.writing() as rows:
                return remove(rows)

    def scrub(self) -> None:
        """Rewrite the file so that nothing that was removed remains in it, the write-ahead log included.

        Raises:
            BusyStore: another process reads or writes. No new reader sees the removed rows, but their bytes remain.
            StoreError: the same, for another reason.
        """
        with self._lock:
            self._check_open()
            try:
                while self.remove(Writing.sweep):
                    pass
                with self._guard:
                    self._rewrite()
            except StoreError as error:
                why = f"another process is at work in {self.address}; wait for it or end it"
                raise type(error)(
                    "the removal is committed, but the old bytes are still in the file: "
                    f"{why if isinstance(error, BusyStore) else error}, then run `ctxfold doctor`, which takes them out"
                ) from error

    def _rewrite(self) -> None:
        """Write the file anew without what was removed. Raises BusyStore: somebody reads it."""
        ((upto,),) = self.query("SELECT coalesce(max(id), 0) FROM unscrubbed")
        try:
            self.query("INSERT INTO fts (fts) VALUES ('optimize')")
            self.query("VACUUM")
        except FullDisk:  # the new file needs as much room again: give back the free pages of the old one first
            self._free()
            while self.query("PRAGMA freelist_count") != [(0,)]:
                self.query(f"PRAGMA incremental_vacuum({_FREED_PAGES})")
                self.query("PRAGMA wal_checkpoint(TRUNCATE)")
            self.query("VACUUM")
        self.query(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        try:
            ((busy, *_),) = self.query("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.query(f"PRAGMA busy_timeout = {WAIT * 1000:.0f}")
        if busy:
            raise BusyStore(self.address)
        self.query("DELETE FROM unscrubbed WHERE id <= :upto", upto=upto)

    def _free(self) -> None:
        """Make room on a full disk: give up the reserve, which is as large as the log, and take the log
        into the file.
        """
        self._guard.give_up_reserve()
        self.query("PRAGMA wal_checkpoint(TRUNCATE)")
        self.query("PRAGMA secure_delete = FAST")

    def _log_size(self) -> int:
        """Bytes of the write-ahead log, 0 without one."""
        with suppress(FileNotFoundError):
            return os.stat(f"{self.address}-wal").st_size
        return 0

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
            ((result,), *_) = self.query("PRAGMA integrity_check(1)")
        if result != "ok":
            raise damaged(f"{self.address} ({' '.join(result.split())})")

    def close(self) -> None:
        """Finish what can be finished, and end the connection; the last one to end empties the write-ahead log into the
        file. Closing twice is harmless.
        """
        with self._lock:
            if self._closed:
                return
            self.finish()
            self._closed = True
            with _translate_errors(self.address), self._guard:
                self._connection.close()
                if not self._log_size():
                    self._guard.give_up_reserve()
            self._guard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        """Raises StoreError: the store was closed, or this thread is in a transaction."""
        if self._closed:
            raise StoreError(f"the store {self.address} was closed; open the session again")
        if self._connection.in_transaction:
            raise StoreError(f"this thread reads or writes {self.address} already; do that first")


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database, in one transaction."""
    own = {"id": "INTEGER PRIMARY KEY", "lasting_id": "INTEGER PRIMARY KEY AUTOINCREMENT", "clustered": "WITHOUT ROWID"}
    header = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    connection.executescript(
        f"PRAGMA auto_vacuum = INCREMENTAL; BEGIN IMMEDIATE; {header} {TABLES.format(**own)} {INDEX}; COMMIT;"
    )


def _connect(address: str, uri: bool = False) -> sqlite3.Connection:
    """A connection that waits for others; transactions are begun and ended by hand."""
    return sqlite3.connect(
        address, timeout=WAIT, isolation_level=None, check_same_thread=False, cached_statements=256, uri=uri
    )


def _connect_frozen(path: Path) -> sqlite3.Connection:
    """A connection to a file that may not be written. Raises ReadOnlyStore: its newest changes cannot be read."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise ReadOnlyStore(f"{path} may not be written, nor {log.name} taken into it; copy both to a folder of yours")
    return _connect(f"{path.as_uri()}?immutable=1", uri=True)


def _check_version(connection: sqlite3.Connection, address: str) -> None:
    """Raises NotOurStore: another program made this database, or another version of ours."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise NotOurStore(_FOREIGN.format(address))
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        fault = f"{address} has tables of version {version}, and this ctxfold reads version {VERSION}"
        raise NotOurStore(f"{fault}; use the ctxfold that wrote it, or name another store with --store")


def _make_private(path: Path) -> bool:
    """See that the file is there, private to its owner where it has to be made. Returns whether it may be written.
    Raises ReadOnlyStore: it is missing and cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        if not path.exists():
            _make(path)
    except OSError as error:
        raise ReadOnlyStore(f"{path} cannot be written ({error.strerror}); name another store with --store") from error
    return _may(path, os.W_OK) and _may(path.parent, os.W_OK)


def _may(path: Path, right: int) -> bool:
    """Whether this process has a right on a file or folder."""
    return os.access(path, right, effective_ids=os.access in os.supports_effective_ids)


def _make(path: Path) -> None:
    """Make the store under another name and link it whole: an empty file at its place is never ours."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(descriptor)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            _create(connection)
        with suppress(FileExistsError):  # another process was faster
            os.link(name, path)
    finally:
        os.unlink(name)


_ERRORS: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
    (("NOTADB",), NotOurStore, _FOREIGN),
    (
        ("READONLY", "PERM", "CANTOPEN"),
        ReadOnlyStore,
        "{} cannot be read or written; check its rights, or name another",
    ),
    (("FULL", "IOERR_WRITE", "IOERR_FSYNC", "IOERR_TRUNCATE", "IOERR_SHMSIZE"), FullDisk, _FULL),
    (("BUSY", "LOCKED"), BusyStore, "another process holds {}; end it or try again"),
)
"""By the beginning of SQLite's name for an error: our error and its message."""


@contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _translate(error, address) from error


def _translate(error: Exception, address: str) -> StoreError:
    """Our error for one of SQLite's."""
    name = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
    for beginnings, kind, message in _ERRORS:
        if name.startswith(beginnings):
            return kind(message.format(address))
    reason = str(error)
    undecoded = isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in reason
    if undecoded or name.startswith("CORRUPT") or "malformed" in reason:
        return damaged(f"{address} ({'a text does not decode' if undecoded else reason})")
    if isinstance(error, sqlite3.IntegrityError | sqlite3.InterfaceError | sqlite3.ProgrammingError):
        return CorruptStore(f"{address} cannot hold a row as it is ({error}); run `ctxfold doctor`")
    return StoreError(f"{address}: {error}; run `ctxfold doctor`")
