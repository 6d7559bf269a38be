"""Invariant 5: what was acknowledged is there after `kill -9`, two processes lose nothing, and a store that cannot be used says so in one line."""

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import CorruptStore, NotOurStore, StoreError
from tests.support.sessions import add_result, add_step, add_steps, cover, one_line, path, prose, settled, texts

WRITER = Path(__file__).with_name("writer.py")
ROOT = Path(__file__).parents[2]


OURS: dict[str, Any] = {"text": True, "cwd": ROOT, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
"""How a child process starts with our checkout on its path."""


def start(*arguments: str) -> "subprocess.Popen[str]":
    """A Python on pipes."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, *arguments], **pipes, **OURS)


def run(*command: str) -> list[str]:
    """Run a program to its end, which must be a good one; the lines it prints."""
    done = subprocess.run(command, capture_output=True, timeout=90, check=False, **OURS)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).splitlines()


def test_a_writer_killed_at_twenty_random_moments_loses_nothing_it_was_told_is_committed(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store = tmp_path / "store.db"
    chance = random.Random()
    told: dict[int, str] = {}
    forker = start(str(WRITER), str(store))
    request.addfinalizer(lambda: put_down(forker))
    assert forker.stdin is not None
    assert forker.stdout is not None
    for kill in range(20):
        forker.stdin.write(f"{kill}\n")
        forker.stdin.flush()
        writer = int(forker.stdout.readline())
        # The moment is a number of acknowledged records plus a slice of the next one's time.
        lines = [acknowledged(forker) for _ in range(chance.randrange(1, 25))]
        until = time.perf_counter() + chance.random() * 0.004
        while time.perf_counter() < until:
            pass
        os.kill(writer, signal.SIGKILL)
        lines += until_gone(forker)
        for line in lines:
            number, text = line.rstrip("\n").split(" ", 1)
            assert int(number) not in told, f"s{number} was given out twice"
            told[int(number)] = text
        with Session.open("trip", store=str(store)) as session:
            assert len(path(session)) == len(set(path(session)))
            step = add_step(session, kill)
            assert step > max(told)
            assert f"END-{kill}" in session.recall(f"s{step}").text
            assert session.view(600).tokens <= 600
    _, errors = forker.communicate(timeout=30)
    assert (forker.returncode, errors) == (0, "")
    with Session.open("trip", store=str(store)) as session:
        for step, said in told.items():
            assert said in texts(session, step), f"s{step} was acknowledged and is lost"
    assert ctxfold.verify_session("trip", store=str(store)) > len(told)
    connection = sqlite3.connect(store)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert len(told) >= 100


def acknowledged(forker: "subprocess.Popen[str]") -> str:
    """The next line of a writer that nobody has killed yet: one that ended by itself fails the test with its own words, and is not waited for."""
    assert forker.stdin is not None
    assert forker.stdout is not None
    assert forker.stderr is not None
    line = forker.stdout.readline()
    if line in ("gone\n", ""):
        forker.stdin.close()
        raise AssertionError(f"the writer ended before it was killed: {forker.stderr.read()}")
    return line


def put_down(forker: "subprocess.Popen[str]") -> None:
    """End a forker that still runs and let go of its pipes, so that a test that failed leaves nothing to the next."""
    if forker.poll() is None:
        forker.kill()
        forker.wait(timeout=10)
    for pipe in (forker.stdin, forker.stdout, forker.stderr):
        if pipe is not None:
            pipe.close()


def until_gone(forker: "subprocess.Popen[str]") -> Iterator[str]:
    """What the killed writer still said, up to its end."""
    assert forker.stdout is not None
    assert forker.stderr is not None
    while (line := forker.stdout.readline()) != "gone\n":
        assert line, f"the forker itself ended: {forker.stderr.read()}"
        yield line


@pytest.mark.long
def test_two_processes_writing_one_session_a_thousand_times_lose_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    Session.open("trip", store=str(store)).close()
    source = textwrap.dedent("""
        import sys
        from ctxfold import Session
        with Session.open("trip", store=sys.argv[1]) as session:
            print("ready", flush=True)
            sys.stdin.readline()
            for n in range(500):
                print(session.record_reply(f"{sys.argv[2]}-{n}").step, flush=True)
        """)
    writers = [start("-c", source, str(store), name) for name in ("left", "right")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    numbers: list[int] = []
    for writer in writers:
        out, err = writer.communicate(timeout=90)
        assert writer.returncode == 0, err
        numbers += map(int, out.split())
    assert sorted(numbers) == list(range(1, 1_001))
    with Session.open("trip", store=str(store)) as session:
        assert path(session) == list(range(1, 1_001))
        held = {text for n in range(1, 1_001) for text in texts(session, n)}
        assert held == {f"{name}-{n}" for name in ("left", "right") for n in range(500)}


_FILL = """
    import os, resource, sys
    from ctxfold import Session
    from ctxfold.errors import FullDisk, StoreError
    store, limit = sys.argv[1], int(sys.argv[2])
    session = Session.open("trip", store=store)
    if limit:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    n = 0
    try:
        while True:
            n += 1
            session.record_reply(f"text-{n} " + os.urandom(8_000).hex())
    except FullDisk as full:
        print("full", n - 1, str(full).count("\\n"), flush=True)
    try:
        session.record_reply("still full " + os.urandom(200_000).hex())
        print("second went through")
    except FullDisk:
        print("still")
    try:
        session.view(600)
        print("view", session.tip, len(session.recall("s1").text) > 8_000)
        session.close()
    except StoreError as error:
        print("error", error)
"""


_FREE = """
    import random, sys
    from pathlib import Path
    import ctxfold
    from ctxfold import Session
    from ctxfold.errors import FullDisk
    vocabulary = ["".join(random.choices("abcdefghijklmnop", k=7)) for _ in range(5_000)]
    words = lambda: " ".join(random.choices(vocabulary, k=2_000))
    store, limit = sys.argv[1], int(sys.argv[2])
    if limit:
        import sqlite3
        connect = sqlite3.connect
        def limited(*given, **named):
            connection = connect(*given, **named)
            connection.execute(f"PRAGMA max_page_count = {limit // 4096}")
            return connection
        sqlite3.connect = limited
    with Session.open("old", store=store) as session:
        for n in range(100):
            session.record_reply(f"old-{n} " + words())
    session = Session.open("trip", store=store)
    n = 0
    try:
        while True:
            n += 1
            session.record_reply(f"text-{n} " + words())
    except FullDisk:
        print("full", session.tip == n - 1)
    session.close()
    before = Path(store).stat().st_size
    ctxfold.delete_session("old", store=store)
    with Session.open("trip", store=store) as session:
        print("freed", Path(store).stat().st_size < before, session.tip == n - 1)
        for more in range(10):
            session.record_reply(f"more-{more} " + words())
        print("goes on", "text-1 " in session.recall("s1").text, session.tip == n + 9)
    print(ctxfold.verify_session("trip", store=store) == n + 9, b"old-" in Path(store).read_bytes())
"""


def test_a_full_disk_is_told_as_such_and_keeps_what_was_committed(tmp_path: Path) -> None:
    words = run_on_small_disk(_FILL, tmp_path, megabytes=3)
    full, number, breaks = words[0].split()
    assert (full, breaks) == ("full", "0")
    assert words[1:] == ["still", f"view {number} True"]
    with Session.open("trip", store=str(tmp_path / "kept" / "store.db")) as session:
        assert session.tip == int(number) >= 10
        assert all(texts(session, n)[0].startswith(f"text-{n} ") for n in range(1, session.tip + 1))
        assert add_step(session, 1) == int(number) + 1


def test_a_full_disk_is_freed_by_deleting_a_session(tmp_path: Path) -> None:
    words = run_on_small_disk(_FREE, tmp_path, megabytes=7)
    assert words == ["full True", "freed True True", "goes on True True", "True False"]


def run_on_small_disk(source: str, folder: Path, megabytes: int) -> list[str]:
    """What a program prints with its store on a disk of some megabytes, or else with a limit on files that it sets itself.

    The store is copied to `kept`.
    """
    store, kept = folder / "small" / "store.db", folder / "kept"
    store.parent.mkdir()
    kept.mkdir()
    command = [sys.executable, "-c", textwrap.dedent(source), str(store)]
    if small_disks():
        mount = f"mount -t tmpfs -o size={megabytes}m none {store.parent}"
        inside = f'{mount} && "$@"; code=$?; cp -a {store.parent}/. {kept}/; exit $code'
        command = ["unshare", "-m", "bash", "-c", inside, "bash", *command, "0"]
    else:
        command += [str(megabytes * 700_000)]
    printed = run(*command)
    if not small_disks():
        shutil.copytree(store.parent, kept, dirs_exist_ok=True)
    return printed


def small_disks() -> bool:
    """Whether this user may mount a small file system out of everyone's sight."""
    asked = ["unshare", "-m", "true"]
    return shutil.which("unshare") is not None and not subprocess.run(asked, capture_output=True).returncode


_READ_ONLY = """
    import os, sys
    from ctxfold import Session
    from ctxfold.errors import CtxfoldError
    with Session.open("warm", store=":memory:") as warm:
        warm.record_reply("x"); warm.view(); warm.recall("s1")
    if os.geteuid() == 0:
        os.setegid(65534); os.seteuid(65534)
    try:
        with Session.open("trip", store=sys.argv[1]) as session:
            print("opened", session.tip, "text-1" in session.recall("s1").text)
            session.record_reply("more")
            print("wrote")
    except CtxfoldError as error:
        print(type(error).__name__, str(error).count("\\n"), sys.argv[1] in str(error) or "write" in str(error))
"""


def test_a_store_without_the_right_to_write_is_read_and_not_written() -> None:
    with tempfile.TemporaryDirectory(prefix="ctxfold-open-") as open_folder:  # the tests' own is closed to other users
        folder = Path(open_folder)
        store = folder / "store.db"
        with Session.open("trip", store=str(store)) as session:
            session.record_reply("text-1")
        before = store.read_bytes()
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        printed = run(sys.executable, "-c", textwrap.dedent(_READ_ONLY), str(store))
        folder.chmod(0o755)
        assert printed == ["opened 1 True", "ReadOnlyStore 0 True"]
        assert store.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for store in (tmp_path / "file" / "store.db", tmp_path):
        with pytest.raises(StoreError, match=one_line()):
            Session.open("trip", store=str(store))


@pytest.mark.parametrize(
    "content",
    [
        b"Dear reader, this is a letter and no database.\n" * 50,
        b"xy",
        bytes(range(256)) * 64,
        b"SQLite format 3\x00" + b"\xff" * 5_000,
    ],
)
def test_a_file_that_is_no_database_is_left_alone_and_named(tmp_path: Path, content: bytes) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(content)
    with pytest.raises((NotOurStore, CorruptStore), match=one_line()):
        Session.open("trip", store=str(store))
    assert store.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir() if file.stat().st_size and file.suffix != ".lock"] == ["store.db"]


def test_a_database_of_another_program_is_left_alone_and_named(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    connection = sqlite3.connect(store)
    connection.executescript("CREATE TABLE event (id INTEGER, note TEXT); INSERT INTO event VALUES (1, 'theirs');")
    connection.close()
    before = store.read_bytes()
    attempts: list[Callable[[str, str], object]] = [
        lambda name, store: Session.open(name, store=store),
        lambda name, store: ctxfold.delete_session(name, store=store),
        lambda name, store: ctxfold.sessions(store),
    ]
    for attempt in attempts:
        with pytest.raises(NotOurStore, match=one_line()):
            attempt("trip", str(store))
    assert store.read_bytes() == before


def test_an_empty_file_is_no_new_store(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    store.touch()
    with pytest.raises(NotOurStore, match="is empty"):
        Session.open("trip", store=str(store))
    assert store.stat().st_size == 0


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store of some size, all of it in the database file."""
    store = tmp_path_factory.mktemp("filled") / "store.db"
    with Session.open("trip", goal="Goal", store=str(store)) as session:
        add_steps(session, 60, words=480)
        session.fold(first_step=1, last_step=9)
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.read_bytes()


def use_everything(store: Path) -> None:
    """Read all there is: opens, views, recalls each record and compares with what was recorded, searches, records."""
    with Session.open("trip", store=str(store)) as session:
        session.view()
        settled(session)
        cover(session)
        for n in range(1, 61):
            assert prose(n, 480) in texts(session, n), f"s{n} came back with other bytes"
        session.recall(query="harbor island")
        session.history()
        add_result(session, "more")


@pytest.mark.parametrize("page", range(1, 24))
def test_a_damaged_page_raises_a_typed_error_and_never_gives_wrong_bytes(
    tmp_path: Path, filled: bytes, page: int
) -> None:
    store, raw = tmp_path / "store.db", bytearray(filled)
    size = int.from_bytes(raw[16:18], "big") or 65_536
    at = (page * (len(raw) // size) // 24) * size
    raw[at : at + size] = random.Random(page).randbytes(size)
    store.write_bytes(bytes(raw))
    fault = "the page was not read"  # which pages are read depends on the plan
    try:
        use_everything(store)
    except StoreError as refused:
        fault = str(refused)
    assert re.search(one_line(), fault)


@pytest.mark.parametrize("part", [0.0, 0.02, 0.3, 0.5, 0.9])
def test_a_truncated_database_raises_a_typed_error(tmp_path: Path, filled: bytes, part: float) -> None:
    (tmp_path / "store.db").write_bytes(filled[: int(len(filled) * part)])
    with pytest.raises(StoreError, match=one_line()):
        use_everything(tmp_path / "store.db")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entry SET bytes = x'00112233' WHERE rowid IN (SELECT rowid FROM entry ORDER BY length(bytes) DESC LIMIT 1)",
        "UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), 'page 7.', 'page 8.') AS BLOB) WHERE CAST(bytes AS TEXT) LIKE '%page 7.'",
        "UPDATE entry SET bytes = (SELECT max(bytes) FROM entry) WHERE CAST(bytes AS TEXT) LIKE '%page 7.'",
        "DELETE FROM entry WHERE CAST(bytes AS TEXT) LIKE '%page 7.'",
    ],
)
def test_an_entry_changed_behind_our_back_is_found_when_it_is_read(tmp_path: Path, filled: bytes, change: str) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(filled)
    with closing(sqlite3.connect(store)) as connection, connection:
        assert connection.execute(change).rowcount == 1
    with pytest.raises(CorruptStore, match=one_line()):
        use_everything(store)
