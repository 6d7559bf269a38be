"""A store in one SQLite file, in WAL mode, that only its owner can read: opening it, its lock, its errors, its scrub.

SQLite before 3.51.3 can lose the WAL when a checkpoint and a write meet (the WAL-reset fault). There a lock of our own
is held during each write and checkpoint, and checkpoints happen only under it.

Only SQLite opens the file. Closing any other descriptor of it would drop the locks of every connection that this
process has on it (POSIX locks belong to the process), and the next process to close its own would take itself for the
last one and remove the WAL that we still use.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ctxfold.errors import BusyStore, CorruptStore, FullDisk, NotOurStore, ReadOnlyStore, StoreError
from ctxfold.store.rows import TABLES
from ctxfold.store.search import INDEX

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


APPLICATION = 0x63747866
"""The number in a file's header that marks it as ours ("ctxf")."""
VERSION = 9
"""Of the tables. Only this version is read."""
WAIT = 30.0
"""Seconds to wait for another process that writes: it writes for milliseconds unless it hangs."""
PATIENCE = 3.0
"""Seconds for which a scrub waits for readers to end. Nobody can write meanwhile."""
_CHECKPOINT_EVERY = 400
"""Writes between two checkpoints under our own lock: about SQLite's 1,000 pages."""
_SHORTEST, _LONGEST = 0.000_5, 0.02
"""Seconds between two tries for the lock, which is held for the length of a commit."""
_FOREIGN = "{} is a database of another program; name another file with CTXFOLD_DATABASE_URL or --store"


def sqlite_version() -> str:
    """The version of the SQLite in use."""
    return sqlite3.sqlite_version


def is_needed() -> bool:
    """Whether the SQLite in use has the WAL-reset fault, so that each write needs a lock of ours."""
    return sqlite3.sqlite_version_info < (3, 51, 3)


class Guard:
    """The right to write, held by one process at a time.

    Args:
        path: the file to lock; made where it is missing, private to its owner.
        wait: seconds to wait for another holder.
    """

    def __init__(self, path: Path, wait: float) -> None:
        self._path = path
        self._wait = wait
        self._file: int | None = None

    def acquire(self) -> None:
        """Take it. Raises TimeoutError: another process keeps it; OSError: the file cannot be used."""
        until = time.monotonic() + self._wait
        pause = _SHORTEST
        while not self._try():
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{self._path} is held by another process")
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST)

    def _try(self) -> bool:
        """Try once. A file that was removed or replaced since it was opened guards nothing: its successor is taken."""
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._file)
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
            _unlock(self._file)

    def close(self) -> None:
        """Give up the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Sqlite:
    """A connection to one file, or to memory. It implements `ctxfold.store.Database`.

    A file that may not be written is only read; a transaction that would write to it raises ReadOnlyStore.

    Raises:
        NotOurStore: the file belongs to another program, or to another version of this one.
        ReadOnlyStore: it can neither be made nor be read.
        CorruptStore: it does not read back.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._memory = address == ":memory:"
        self._guard: Guard | None = None
        self._guarding = False
        self._writes = 0
        with _translate_errors(address):
            path = Path(address).absolute()
            self._frozen = not self._memory and not _make_private(path)
            if is_needed() and not self._memory and not self._frozen:
                self._guard = Guard(path.with_name(f"{path.name}.lock"), WAIT)
            self._connection = _connect_frozen(path) if self._frozen else _connect(address)
        self._pragma = self._connection.execute
        try:
            with _translate_errors(address), self._guarded():
                self._prepare()
        except BaseException:
            self._connection.close()
            if self._guard is not None:
                self._guard.close()
            raise

    def _prepare(self) -> None:
        if self._memory:
            _create(self._connection)
        _check_version(self._connection, self._address)
        self._pragma("PRAGMA cache_size = -16000")
        self._pragma("PRAGMA cell_size_check = ON")
        if self._frozen:
            return
        if not self._memory:
            self._pragma("PRAGMA journal_mode = WAL")
        self._pragma("PRAGMA synchronous = FULL")
        self._pragma("PRAGMA secure_delete = ON")
        if self._guard is not None:
            self._pragma("PRAGMA wal_autocheckpoint = 0")

    def run(self, sql: str, **values: object) -> None:
        """Run one statement."""
        try:
            self._connection.execute(sql, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _translate(error, self._address) from error

    def rows(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """All rows of one query, or of a statement that ends in RETURNING."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _translate(error, self._address) from error

    def begin(self, *, write: bool) -> None:
        """Begin a transaction: a snapshot to read, or the exclusive right to write."""
        if not write:
            self.run("BEGIN")
            return
        if self._frozen:
            raise ReadOnlyStore(
                f"{self._address} may not be written, so it is only read; "
                "change its rights, or name another store with CTXFOLD_DATABASE_URL"
            )
        self._acquire()
        try:
            self.run("BEGIN IMMEDIATE")
        except BaseException:
            self._release()
            raise

    def commit(self, *, keep: bool = True) -> None:
        """End the transaction. What it changed is kept, or else undone."""
        try:
            if keep:
                self.run("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if self._guarding:
                self._writes += 1
                if self._writes % _CHECKPOINT_EVERY == 0:
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._release()

    def _acquire(self) -> None:
        if self._guard is None:
            return
        try:
            self._guard.acquire()
        except TimeoutError as error:
            raise BusyStore(
                f"another process has held {self._address} for {WAIT:.0f} s, so it is stopped or hangs; "
                "let it go on or end it, then try again"
            ) from error
        except OSError as error:
            raise ReadOnlyStore(
                f"{self._address} cannot be locked ({error.strerror}); "
                "check the rights of its folder or name another store"
            ) from error
        self._guarding = True

    def _release(self) -> None:
        if self._guard is not None:
            self._guarding = False
            self._guard.release()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        self._acquire()
        try:
            yield
        finally:
            self._release()

    def scrub(self) -> None:
        """Rewrite the file so that nothing removed remains in it, the write-ahead log included."""
        try:
            with _translate_errors(self._address), self._guarded():
                self._rewrite()
        except BusyStore as error:
            raise BusyStore(f"another process is at work in {self._address}; wait for it or end it") from error

    def _rewrite(self) -> None:
        upto = self._pragma("SELECT max(id) FROM unscrubbed").fetchone()[0] or 0
        self._pragma("INSERT INTO fts (fts) VALUES ('optimize')")
        self._pragma("VACUUM")
        if not self._memory:
            self._pragma(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
            try:
                busy = self._pragma("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                self._pragma(f"PRAGMA busy_timeout = {WAIT * 1000:.0f}")
            if busy:
                raise BusyStore(self._address)
        self._pragma("DELETE FROM unscrubbed WHERE id <= ?", (upto,))

    def check(self) -> None:
        """Look for damage in all of the file. Raises CorruptStore."""
        ((found,), *_) = self.rows("PRAGMA integrity_check(1)")
        if found != "ok":
            raise _corrupt(self._address, " ".join(str(found).split()))

    def close(self) -> None:
        """End the connection. The last one to end empties the write-ahead log into the file."""
        with _translate_errors(self._address), self._guarded():
            self._connection.close()
        if self._guard is not None:
            self._guard.close()


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database, in one transaction."""
    own = {"id": "INTEGER PRIMARY KEY", "lasting_id": "INTEGER PRIMARY KEY AUTOINCREMENT", "clustered": "WITHOUT ROWID"}
    header = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {header} {TABLES.format(**own)} {INDEX}; COMMIT;")


def _connect(address: str, uri: bool = False) -> sqlite3.Connection:
    """A connection that waits for others; transactions are begun and ended by hand."""
    return sqlite3.connect(
        address, timeout=WAIT, isolation_level=None, check_same_thread=False, cached_statements=256, uri=uri
    )


def _connect_frozen(path: Path) -> sqlite3.Connection:
    """A connection to a file that may not be written. Raises ReadOnlyStore: its newest changes cannot be read."""
    connection = _connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise ReadOnlyStore(
                f"{path} may not be written, and its newest changes are in {log.name}, which only a writer can read; "
                "copy both to a folder of yours and name the copy with --store"
            ) from error
        return _connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    return connection


def _check_version(connection: sqlite3.Connection, address: str) -> None:
    """Raises NotOurStore: another program made this database, or another version of ours."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise NotOurStore(_FOREIGN.format(address))
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise NotOurStore(
            f"{address} has tables of version {version}, and this ctxfold reads version {VERSION}; "
            "use the ctxfold that wrote it (`pip install -U ctxfold` where that is newer), or name another store"
        )


def _make_private(path: Path) -> bool:
    """See that the file is there, private to its owner where it has to be made. Returns whether it may be written.

    Raises:
        CorruptStore: it is empty.
        NotOurStore: it belongs to another program, or is no file.
        ReadOnlyStore: it is missing and cannot be made, or cannot be read.
    """
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        if not path.exists():
            _make(path)
        elif not path.is_file():
            raise NotOurStore(f"{path} is not a file; name a file of its own for the store")
        if not _may(path, os.R_OK):
            raise ReadOnlyStore(
                f"{path} cannot be read; run `chmod u+rw` on it or name another store with CTXFOLD_DATABASE_URL"
            )
        _check_ours(path)
    except OSError as error:
        raise ReadOnlyStore(
            f"{path} cannot be written ({error.strerror}); name another store with CTXFOLD_DATABASE_URL"
        ) from error
    return _may(path, os.W_OK) and _may(path.parent, os.W_OK)


def _may(path: Path, right: int) -> bool:
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


def _check_ours(path: Path) -> None:
    """Refuse a file of another program by its first bytes, before anything is written near it.

    The file is opened as immutable, so that no log is made and no lock is taken.
    """
    if path.stat().st_size == 0:
        raise CorruptStore(f"{path} is empty, and a store never is; restore a copy, or remove the file to begin anew")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as looking:
        try:
            application = looking.execute("PRAGMA application_id").fetchone()[0]
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") != "SQLITE_CORRUPT":
                raise
            application = 0  # some pages are only in the log: opened in full it reads, or is damaged
    if application not in (0, APPLICATION):
        raise NotOurStore(_FOREIGN.format(path))


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
"""By the beginning of SQLite's name for an error: our error and its message."""


@contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _translate(error, address) from error


def _translate(error: Exception, address: str) -> StoreError:
    name = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
    for beginnings, kind, message in _ERRORS:
        if name.startswith(beginnings):
            return kind(message.format(address))
    said = str(error)
    undecoded = isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in said
    if undecoded or name.startswith("CORRUPT") or "malformed" in said:
        return _corrupt(address, "a text does not decode" if undecoded else said)
    if isinstance(error, sqlite3.IntegrityError | sqlite3.InterfaceError | sqlite3.ProgrammingError):
        return CorruptStore(f"{address} cannot hold a row as it is ({error}); run `ctxfold doctor`")
    return StoreError(f"{address}: {error}; run `ctxfold doctor`")


def _corrupt(address: str, why: str) -> CorruptStore:
    return CorruptStore(
        f"{address} is damaged ({why}); restore a copy, or write what still reads with `ctxfold sessions export`"
    )
