"""Running the command line: in this process for its words and codes, in one of its own for pipes and start-up."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.cli import main
from tests.support.sessions import add_call


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `ctxfold` with these arguments and this standard input."""

    def running(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            Context().run(main, list(arguments))  # nothing of an event loop that other tests keep
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return running


def spawn(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run `ctxfold` in a process of its own."""
    command = [sys.executable, "-m", "ctxfold", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def failed(ran: Ran, code: int, *words: str) -> None:
    """Hold that a command ended with one line on standard error, this code, and these words in it."""
    assert ran.code == code, ran
    assert ran.out == ""
    assert ran.err.startswith("error: "), ran.err
    assert ran.err.count("\n") == 1, ran.err
    for word in words:
        assert word in ran.err, ran.err


@pytest.fixture
def paris(ctxfold_home: object) -> str:
    """A session of three steps in the default store; the second was folded."""
    with Session.open("paris", goal="Plan three days in Paris") as session:
        session.record_turn(user="Find me a hotel near the river.")
        add_call(session, "search", {"q": "hotel"}, "Hotel Lutetia, 310 EUR\nHotel Jo\xebl, 95 EUR", "Searching.")
        add_call(session, "open", {"n": 2}, "Rooms from 95 EUR. Breakfast is extra. " * 20, "Opening the second.")
        session.record_reply("Hotel Joël costs 95 EUR.")
        session.fold(summary="Hotel Joël: rooms from 95 EUR, breakfast extra.", first_step=2, last_step=2)
    return "paris"


def at_home(tmp_path: Any) -> dict[str, str]:
    """The environment of a new user: an empty home and nothing set."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(tmp_path)}
