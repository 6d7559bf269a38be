"""The SQLite store: one connection in WAL mode, with files that only their owner can read.

Where this SQLite needs the guard, the guard goes round every write transaction and checkpoint, and checkpoints happen only under it.

The file is opened by SQLite alone: closing any other descriptor of it would drop the locks of every connection this process has on it (POSIX locks
belong to the process), and the next process to close its own would take itself for the last and remove the WAL beneath us.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Self

from ctxfold.errors import BusyStore, CorruptStore, CtxfoldError, FullDisk, NotOurStore, ReadOnlyStore, StoreError
from ctxfold.store.codec import recount, register, seal_all
from ctxfold.store.rows import CoverRows, ForestRows, LogRows, SessionsRows
from ctxfold.store.search import SearchRows

APPLICATION = 0x63747866
"""The number in a file's header that says whose it is."""
VERSION = 8
_BRINGS = {
    1: ("event", "intent"),
    2: ("session", "budget"),
    3: ("event", "guide"),
    5: ("unscrubbed", "id"),
    7: ("session", "sum"),
}
"""Of each upgrade a table and a column that it brings: where that is there already, it is done, whatever the version says."""
_UPGRADES = (1, 2, 3, 5, 6, 7)
"""The versions that have a script. From 4 to 5 changed only a table that version 7 drops."""
_UNSEALED = 7
"""The last version whose rows had no checksums."""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database, in one transaction."""
    connection.executescript(
        f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {_read('schema')} COMMIT;"
    )


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring an older store up to this version, in one transaction; nothing happens when another process was faster."""
    run = connection.execute
    run("BEGIN IMMEDIATE")
    try:
        for older in range(run("PRAGMA user_version").fetchone()[0], VERSION):
            if older in _UPGRADES and not _is_done(connection, older):
                lines = _read(f"upgrade_{older}").splitlines(keepends=True)
                words = "".join(line for line in lines if not line.startswith("--"))
                for statement in filter(str.strip, words.split(";")):
                    if not _is_added(connection, statement):
                        run(statement)
                if older == _UNSEALED:
                    recount(connection)
                    seal_all(connection)
            run(f"PRAGMA user_version = {older + 1}")
        run("COMMIT")
    except BaseException:
        run("ROLLBACK")
        raise


def _is_done(connection: sqlite3.Connection, older: int) -> bool:
    brings = _BRINGS.get(older)
    return brings is not None and _has(connection, *brings)


def _is_added(connection: sqlite3.Connection, statement: str) -> bool:
    """Whether a statement adds a column that is there already."""
    match statement.split():
        case ["ALTER", "TABLE", table, "ADD", "COLUMN", column, *_]:
            return _has(connection, table, column)
        case _:
            return False


def _has(connection: sqlite3.Connection, table: str, column: str) -> bool:
    found = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column))
    return found.fetchone() is not None


def _read(script: str) -> str:
    return files("ctxfold.store").joinpath("sql", f"{script}.sql").read_text("utf-8")


WAIT = 30.0
"""Seconds that are waited for another process."""

FOREIGN = "{} is a database of another program; name another file with CTXFOLD_DATABASE_URL or --store"


def connect(address: str, uri: bool = False) -> sqlite3.Connection:
    """A connection that waits for others, and whose transactions are begun and ended by hand."""
    return sqlite3.connect(
        address, timeout=WAIT, isolation_level=None, check_same_thread=False, cached_statements=256, uri=uri
    )


def connect_frozen(path: Path) -> sqlite3.Connection:
    """A connection to a file that may not be written. Raises ReadOnlyStore: what was written last lies in its log, which cannot be read without writing beside it."""
    connection = connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise ReadOnlyStore(
                f"{path} may not be written, and its newest changes are in {log.name}, which cannot be read so; copy both to a folder of yours and name the copy with --store"
            ) from error
        return connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    return connection


def make_private(path: Path) -> bool:
    """See that the file is there, private to its owner where it has to be made. Returns whether it may be written.

    Raises:
        CorruptStore: it is empty.
        NotOurStore: it is something else.
        ReadOnlyStore: it is not there and cannot be made, or cannot be read.
    """
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        _check_ours(path)
        if not path.exists():
            _make(path)
        if not _may(path, os.R_OK):
            raise ReadOnlyStore(
                f"{path} cannot be read; run `chmod u+rw` on it or name another store with CTXFOLD_DATABASE_URL"
            )
    except OSError as error:
        raise ReadOnlyStore(
            f"{path} cannot be written ({error.strerror}); name another store with CTXFOLD_DATABASE_URL"
        ) from error
    return _may(path, os.W_OK) and _may(path.parent, os.W_OK)


def _may(path: Path, right: int) -> bool:
    return os.access(path, right, effective_ids=os.access in os.supports_effective_ids)


def _make(path: Path) -> None:
    """Make the store beside its place and put it there whole: an empty file in it is never ours. Who is faster has made it."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(descriptor)
    made = Path(name)
    try:
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            register(connection)
            create(connection)
        with suppress(FileExistsError):
            os.link(made, path)
    finally:
        made.unlink()


def _check_ours(path: Path) -> None:
    """Refuse what is no store of ours by its first bytes, so that nothing is laid beside a file of somebody else."""
    if path.exists() and not path.is_file():
        raise NotOurStore(f"{path} is not a file; name a file of its own for the store")
    if not path.exists() or not _may(path, os.R_OK):
        return
    if path.stat().st_size == 0:
        raise CorruptStore(
            f"{path} is empty, and a store never is: it was cut short or is something else; restore a copy, or remove it to begin anew"
        )
    if _application(path) not in (0, APPLICATION):
        raise NotOurStore(FOREIGN.format(path))


def _application(path: Path) -> int:
    """Whose database a file says it is, 0 for nobody's, and where its log must be read to tell. The file is only looked at: as immutable, so that no log is
    laid beside it and no lock is taken.

    Raises:
        sqlite3.DatabaseError: it is no database.
        sqlite3.Error: it does not read.
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as looking:
        try:
            return int(looking.execute("PRAGMA application_id").fetchone()[0])
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") != "SQLITE_CORRUPT":
                raise
            return 0  # its pages are behind its log; opened in full it reads, or is damaged


def sqlite_version() -> str:
    """The version of the SQLite in use."""
    return sqlite3.sqlite_version


def is_needed() -> bool:
    """Whether the SQLite in use has the WAL-reset fault, so that a lock stands round every write."""
    return sqlite3.sqlite_version_info < (3, 51, 3)


if sys.platform == "win32":
    from filelock import FileLock, Timeout

    class Guard:
        """The right to write, held by one process at a time.

        Args:
            path: the file that is locked; made where it is missing, private to its owner.
            wait: seconds that are waited for another holder.
        """

        def __init__(self, path: Path, wait: float) -> None:
            self._lock = FileLock(path, timeout=wait, mode=0o600, thread_local=False)

        def acquire(self) -> None:
            """Take it. Raises TimeoutError when another process keeps it, OSError when the file cannot be used."""
            try:
                self._lock.acquire()
            except Timeout as error:
                raise TimeoutError(str(error)) from error

        def release(self) -> None:
            """Let others have it."""
            self._lock.release()

        def close(self) -> None:
            """Give up the file."""
            self._lock.release(force=True)

else:
    import fcntl
    import os
    import time

    class Guard:
        """The right to write, held by one process at a time.

        Args:
            path: the file that is locked; made where it is missing, private to its owner.
            wait: seconds that are waited for another holder.
        """

        def __init__(self, path: Path, wait: float) -> None:
            self._path = path
            self._wait = wait
            self._file: int | None = None

        def acquire(self) -> None:
            """Take it. Raises TimeoutError when another process keeps it, OSError when the file cannot be used."""
            until: float | None = None
            pause = _SHORTEST
            while not self._taken():
                now = time.monotonic()
                until = until or now + self._wait
                if now >= until:
                    raise TimeoutError(f"{self._path} is held by another process")
                time.sleep(min(pause, until - now))
                pause = min(2 * pause, _LONGEST)

        def _taken(self) -> bool:
            """Try once. A file that was removed or replaced since it was opened guards nothing any more: its successor is taken."""
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file), os.stat(self._path)):
                    return True
            self.close()
            return False

        def release(self) -> None:
            """Let others have it."""
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)

        def close(self) -> None:
            """Give up the file."""
            if self._file is not None:
                os.close(self._file)
                self._file = None

    _SHORTEST, _LONGEST = 0.000_5, 0.02
    """Seconds between two tries: the lock is held for the length of a commit."""


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
