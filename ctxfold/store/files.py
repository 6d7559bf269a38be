"""Makes the file of a store, private and whole from its first moment, and opens one that may only be read."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from ctxfold.errors import CorruptStore, NotOurStore, ReadOnlyStore
from ctxfold.store.codec import register
from ctxfold.store.schema import APPLICATION, create

__all__ = ["FOREIGN", "WAIT", "connect", "connect_frozen", "make_private"]

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
