"""The lock that lets one process at a time write to a store, for SQLite versions that need it.

SQLite before 3.51.3 can corrupt a WAL when several connections write and checkpoint at one moment. A lock is taken for every transaction, so it must cost next to nothing where nobody waits: the file stays open and one call of the system takes the lock.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["Guard", "is_needed", "sqlite_version"]


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
