"""The helper that stays resident: it answers as a hook would by itself, and whatever becomes of it, the hook has its answer."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from ctxfold import delete_session
from mcp_server.hooks import helper
from mcp_server.hooks.__main__ import respond
from mcp_server.hooks.helper import TAKEN, find_socket
from mcp_server.hooks.helper import ask_helper as ask
from tests.mcp_server.hooks.test_events import ROWS, bash, event, kept, main

HOST = ["claude-code"]
COMMAND = [sys.executable, "-m", "mcp_server.hooks", *HOST]
LONG = event("claude-code", "PostToolUse", **bash(ROWS))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test waits for the helper however slow the machine is."""
    monkeypatch.setattr(helper, "_TAKE_SECONDS", 100.0)


def place() -> str:
    found = find_socket()
    assert found is not None
    return found


def until(true: Callable[[], object]) -> None:
    """Wait for something that another process or thread brings about; the test's own time limit ends it."""
    while not true():
        time.sleep(0.01)


def listens(path: str) -> bool:
    with closing(socket.socket(socket.AF_UNIX)) as line:
        return line.connect_ex(path) == 0


@contextmanager
def resident() -> Iterator[subprocess.Popen[bytes]]:
    """A helper of the test's store, ready."""
    with subprocess.Popen([sys.executable, "-m", "mcp_server.hooks.helper", place()]) as process:
        try:
            until(lambda: process.poll() is not None or listens(place()))
            assert process.poll() is None
            yield process
        finally:
            process.kill()


def hook(raw: bytes) -> bytes:
    return subprocess.run(COMMAND, input=raw, capture_output=True, check=True, timeout=100).stdout


def test_the_helper_answers_as_the_hook_would_and_records_once() -> None:
    with resident():
        first = ask(place(), HOST, LONG)
        assert first is not None
    assert main(HOST, LONG).encode() == first
    with kept("claude-code") as session:
        assert ROWS in [session.recall(hit.ref.split(":")[0]).text for hit in session.recall(query="ID-7918999-XK")]


def test_the_first_hook_starts_it_and_the_next_imports_no_session() -> None:
    assert not os.path.exists(place())
    assert b"updatedToolOutput" in hook(LONG)
    until(lambda: listens(place()))
    asked = (
        "import sys; from mcp_server.hooks.__main__ import respond; respond(['claude-code'], sys.stdin.buffer.read());"
    )
    told = f"{asked} print('ctxfold.session.session' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], input=LONG, capture_output=True, check=True, timeout=60)
    assert b"updatedToolOutput" in done.stdout
    assert done.stdout.endswith(b"False\n")


@pytest.mark.parametrize("said", [b"", TAKEN + (9).to_bytes(8, "big") + b"half", TAKEN + b"\0" * 8 + b"more"])
def test_a_wrong_answer_is_none(said: bytes) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as line:
        line.bind(place())
        line.listen()

        def serve() -> None:
            with closing(line.accept()[0]) as hooked:
                while hooked.recv(1 << 16):
                    pass
                hooked.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        assert ask(place(), HOST, LONG) is None
        thread.join()


def test_of_a_helper_that_hangs_the_hook_does_the_work(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(helper, "_TAKE_SECONDS", 0.2)
    monkeypatch.setattr(helper, "start_helper", lambda _path: None)
    with closing(socket.socket(socket.AF_UNIX)) as line:
        line.bind(place())
        line.listen()
        respond(HOST, LONG)
    assert b"updatedToolOutput" in capsysbinary.readouterr().out


def test_of_a_helper_that_was_killed_the_hook_does_the_work_and_starts_another() -> None:
    with resident() as process:
        ask(place(), HOST, LONG)
        process.kill()
        process.wait()
    assert os.path.exists(place())
    again = event("claude-code", "PostToolUse", **bash(f"{ROWS}\nonly-now", "toolu_other"))
    assert b"updatedToolOutput" in hook(again)
    until(lambda: listens(place()))
    with kept("claude-code") as session:
        assert session.recall(query="only-now")


def test_a_fault_is_told_by_the_hook_itself_and_the_helper_goes_on() -> None:
    with resident():
        assert ask(place(), HOST, b"{}") is None
        assert ask(place(), ["nobody"], LONG) is None
        assert ask(place(), HOST, b"\xff") is None
        done = subprocess.run(COMMAND, input=b"{}", capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (1, b"")
        assert ask(place(), HOST, LONG) is not None


def test_what_a_transcript_gains_is_recorded_and_each_entry_once(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"

    def say(at: int) -> bytes | None:
        line = {"type": "user", "uuid": f"u{at}", "message": {"role": "user", "content": f"Rule {at} holds"}}
        with transcript.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return ask(place(), HOST, event("claude-code", "Stop", transcript_path=str(transcript)))

    with resident():
        assert [say(at) for at in range(3)] == [b"", b"", b""]
        with kept("claude-code") as session:
            assert [f"Rule {at} holds" in session.view().text for at in range(3)] == [True] * 3
        delete_session("claude-code-5e55-ab")
        assert (say(3), say(4)) == (None, b"")
    with kept("claude-code") as session:
        assert "Rule 0 holds" in session.view().text, "what was read for a session that is gone is read again"


def test_a_session_that_the_helper_holds_open_can_be_redacted() -> None:
    with resident():
        ask(place(), HOST, LONG)
        with kept("claude-code") as session:
            session.redact("ID-7919-XK")
        again = ask(place(), HOST, event("claude-code", "PreCompact"))
        assert again is not None
        assert b"ID-7919-XK" not in again


def test_only_its_user_can_reach_it() -> None:
    with resident():
        assert stat.S_IMODE(os.stat(place()).st_mode) == 0o600
        folder = os.path.dirname(place())
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        os.chmod(folder, 0o755)
        assert find_socket() is None
        os.chmod(folder, 0o700)


def test_a_folder_that_leads_elsewhere_is_not_used(ctxfold_home: Path, tmp_path: Path) -> None:
    ctxfold_home.mkdir()
    tmp_path.chmod(0o700)
    (ctxfold_home / "helper").symlink_to(tmp_path)
    assert find_socket() is None


def test_a_second_one_ends_at_once() -> None:
    with resident() as first:
        second = subprocess.run([sys.executable, "-m", "mcp_server.hooks.helper", place()], timeout=100)
        assert (second.returncode, first.poll()) == (0, None)
        assert ask(place(), HOST, LONG) is not None


def test_it_ends_when_its_socket_is_gone() -> None:
    with resident() as process:
        os.unlink(place())
        assert process.wait(100) == 0


def test_what_comes_after_the_store_was_moved_away_is_kept_in_the_new_one(ctxfold_home: Path) -> None:
    with resident():
        assert ask(place(), HOST, LONG) is not None
        for file in list(ctxfold_home.glob("ctxfold.db*")):
            file.rename(file.with_name(f"moved-{file.name}"))
        assert ask(place(), HOST, LONG) is not None
    with kept("claude-code") as session:
        assert session.recall(query="ID-7918999-XK")


def test_it_ends_when_its_code_is_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = tmp_path / "module.py"
    code.write_text("old")
    monkeypatch.setitem(sys.modules, "ctxfold.of_this_test", SimpleNamespace(__file__=str(code)))
    with _served(60):
        assert ask(place(), HOST, LONG) is not None
        code.write_text("newer")
        os.utime(code, ns=(1, 1))
        assert ask(place(), HOST, LONG) is None


def test_it_ends_when_nothing_came_for_a_while() -> None:
    with _served(0.2):
        pass  # leaving the block waits for its end


@contextmanager
def _served(idle: float) -> Iterator[None]:
    """A helper in a thread of this process, whose end is waited for."""
    thread = threading.Thread(target=helper.serve, args=(place(), idle), daemon=True)
    thread.start()
    until(lambda: os.path.exists(place()) or not thread.is_alive())
    yield
    thread.join()
