"""The lock that goes round every write: one holder at a time, in order of nothing but luck, and no longer than the holder lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ctxfold.errors import BusyStore, ReadOnlyStore
from ctxfold.store.sqlite import Guard

_HOLDER = """
import sys
from pathlib import Path
from ctxfold.errors import BusyStore, ReadOnlyStore
from ctxfold.store.sqlite import Guard
guard = Guard(Path(sys.argv[1]), 1.0)
guard.acquire()
print("held", flush=True)
sys.stdin.readline()
guard.release()
print("released", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """The file that is locked, by the name of its store."""
    return tmp_path / "store.db"


def holder(lock: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_that_another_process_holds_is_waited_for_and_then_refused(lock: Path) -> None:
    with holder(lock) as other:
        with pytest.raises(BusyStore):
            Guard(lock, 0.2).acquire()
        other.communicate("go\n\n")


def test_a_lock_is_free_once_its_holder_is_killed(lock: Path) -> None:
    with holder(lock) as other:
        other.kill()
        other.wait()
        guard = Guard(lock, 20.0)
        guard.acquire()
        guard.close()


def test_a_lock_that_was_released_is_taken_by_the_one_who_waits(lock: Path) -> None:
    guard = Guard(lock, 20.0)
    with holder(lock) as other:
        assert other.stdin is not None
        other.stdin.write("go\n")
        other.stdin.flush()
        guard.acquire()
        other.communicate("\n")
    guard.release()
    guard.close()


def test_a_lock_file_that_was_removed_guards_nothing_and_its_successor_is_taken(lock: Path) -> None:
    mine, theirs = Guard(lock, 0.2), Guard(lock, 0.2)
    mine.acquire()
    mine.release()
    lock.with_name("store.db.lock").unlink()
    theirs.acquire()
    with pytest.raises(BusyStore):
        mine.acquire()
    theirs.release()
    mine.acquire()
    mine.close()
    theirs.close()


def test_the_lock_file_is_private_and_a_folder_without_rights_is_an_error(lock: Path, tmp_path: Path) -> None:
    guard = Guard(lock, 0.2)
    guard.acquire()
    assert lock.with_name("store.db.lock").stat().st_mode & 0o077 == 0
    guard.close()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ReadOnlyStore, match="file"):
        Guard(tmp_path / "file" / "lock", 0.2).acquire()
