"""Starting, helping, failing and ending: the parts every command shares."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import pytest

from ctxfold import Session
from ctxfold.cli import run as run_command
from ctxfold.errors import FullDisk
from tests.ctxfold.cli.conftest import Run, at_home, failed, spawn

OWN = ("context", "doctor", "log", "recall", "record", "redact", "redo", "sessions", "tree", "undo")


def test_help_lists_every_command_with_what_it_is_for(run: Run) -> None:
    shown = run("--help")
    assert shown.code == 0
    for name in OWN:
        line = next(line for line in shown.out.splitlines() if line.startswith(f"  {name} "))
        assert len(line.split(maxsplit=1)[1]) > 10
    assert max(len(line) for line in shown.out.splitlines()) <= 80


def test_help_imports_no_command_and_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from ctxfold.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'pydantic', 'tiktoken', 'anthropic', 'playwright', 'mcp', 'rich', 'sqlite3', 'selectolax', 'asyncio'}\n"
        "own = {'ctxfold.cli.look', 'browser_agent.agent', 'mcp_server.server', 'ctxfold.session.session'}\n"
        "print('loaded:', sorted((heavy | own) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.endswith("loaded: []\n")
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    "arguments", [("nope",), ("log",), ("log", "paris", "--colour"), ("log", "paris", "--limit", "0")]
)
def test_wrong_usage_is_read_summary_that_names_the_help(run: Run, arguments: tuple[str, ...]) -> None:
    failed(run(*arguments), 2, "--help")


def test_a_reader_that_goes_away_ends_the_command_quietly(run: Run) -> None:
    with Session.open("long") as session:
        session.record_turn(user="a line of it\n" * 200_000)
    command = [sys.executable, "-m", "ctxfold", "recall", "long", "s1.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"a line of it\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 0


@contextmanager
def asked_on_a_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A command that has just asked its question, and the terminal to answer it on."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ctxfold", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        asked = b""
        while b"[y/N]" not in asked:
            said = os.read(process.stderr.fileno(), 1000)
            assert said, asked
            asked += said
        yield process, ours
        os.close(ours)
        os.close(theirs)


def test_ctrl_c_ends_with_130_and_no_traceback(paris: str) -> None:
    with asked_on_a_terminal("sessions", "delete", paris) as (process, _):
        while (
            process.poll() is None
        ):  # pressed again where the first fell between the question and the wait for an answer
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=2)
        assert process.returncode == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"\n", 1), (b"y\n", 0)])
def test_only_a_yes_deletes(run: Run, paris: str, answer: bytes, code: int) -> None:
    with asked_on_a_terminal("sessions", "delete", paris) as (process, terminal):
        os.write(terminal, answer)
        assert process.wait(timeout=30) == code
    assert (paris in run("sessions", "list").out) == (code == 1)


@click.command()
@click.argument("what")
def breaking(what: str) -> None:
    """Fail in a given way."""
    match what:
        case "disk":
            raise FullDisk("no space left\non the disk: free some; everything committed is kept")
        case "tasks":
            raise BaseExceptionGroup("tasks", [ExceptionGroup("one", [FullDisk("no space left: free some")])])
        case "mixed":
            try:
                raise ZeroDivisionError("a mistake of ours")
            except ZeroDivisionError as error:
                raise ExceptionGroup("tasks", [FullDisk("no space left: free some"), error]) from None
        case "loading":
            raise RuntimeError("error calling __set_name__") from KeyboardInterrupt()
        case "output":
            raise OSError(28, "No space left on device")
        case _:
            raise ZeroDivisionError("a mistake of ours")


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("disk", 3, "error: no space left on the disk"),
        ("tasks", 3, "error: no space left"),
        ("output", 3, "No space left"),
        ("loading", 130, ""),
    ],
)
def test_an_expected_failure_is_read_summary_and_its_code(
    capsys: pytest.CaptureFixture[str], what: str, code: int, said: str
) -> None:
    assert run_command(breaking, [what]) == code
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == bool(said)


@pytest.mark.parametrize("what", ["bug", "mixed"])
def test_a_mistake_of_ours_is_read_summary_and_its_details_are_kept_without_its_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv("CTXFOLD_HOME", str(tmp_path))
    for _ in range(2):
        assert run_command(breaking, [what]) == 3
    said = capsys.readouterr().err
    kept = tmp_path / "last-failure.txt"
    assert said.count("\n") == 2
    assert f"(ZeroDivisionError); nothing recorded is lost. Please report it with {kept}" in said
    told = kept.read_text()
    assert "in breaking" in told
    assert "builtins.ZeroDivisionError" in told
    assert told.count("a mistake of ours") <= 1  # the source line, never the error's own words
    assert kept.stat().st_mode & 0o077 == 0


def test_a_store_that_may_not_be_written_says_where_to_keep_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    failed(run("record", "work", "--user", "x", "--store", str(tmp_path / "file" / "store.db")), 3)


def test_a_new_user_with_an_empty_home_gets_a_private_store(tmp_path: Path) -> None:
    recorded = spawn("record", "first", "--user", "Hello.", env=at_home(tmp_path), cwd=tmp_path)
    assert (recorded.returncode, recorded.stdout) == (0, b"s1\n")
    (store,) = tmp_path.rglob("ctxfold.db")
    assert store.stat().st_mode & 0o077 == 0
    assert b"Hello." in spawn("context", "first", env=at_home(tmp_path), cwd=tmp_path).stdout


@pytest.mark.parametrize("closed", [0, 1])
def test_a_stream_that_was_closed_before_the_start_is_an_empty_one(tmp_path: Path, closed: int) -> None:
    command = f'"$0" -m ctxfold record first {closed}{"<" if closed == 0 else ">"}&-'
    stdin = subprocess.DEVNULL if closed == 0 else None
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        env=at_home(tmp_path),
        stdin=stdin,
        input=None if closed == 0 else b"a text",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == (2 if closed == 0 else 0)
