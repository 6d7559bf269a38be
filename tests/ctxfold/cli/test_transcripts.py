"""Reading hosts' transcripts from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ctxfold.cli.conftest import Run, failed

RECORDED = Path(__file__).parents[1] / "messages" / "recorded"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path


def test_the_latest_transcript_of_a_host_becomes_a_session(run: Run, home: Path) -> None:
    folder = home / ".codex" / "sessions" / "2026" / "11" / "22"
    folder.mkdir(parents=True)
    (folder / "rollout-1.jsonl").write_bytes((RECORDED / "codex.jsonl").read_bytes())
    assert "new entries" in run("sessions", "import", "--from", "codex", "--latest").err
    assert "never touch rows above 400" in run("recall", "codex-rollout-1", "s1.1").out
    assert "recorded 0 new entries in codex-rollout-1, " in run("sessions", "import", "--from", "codex", "--latest").err


def test_following_ends_when_nothing_new_comes(run: Run) -> None:
    path = str(RECORDED / "pi.jsonl")
    followed = run("follow", "--from", "pi", path, "--name", "p", "--idle", "0.1", "--every", "0.05")
    assert (followed.code, followed.out) == (0, "")
    assert "6 new entries" in followed.err


def test_what_cannot_be_read_is_one_line_with_the_next_move(run: Run) -> None:
    path = str(RECORDED / "pi.jsonl")
    failed(run("sessions", "import", "--from", "emacs", path), 2, "claude-code, codex, gemini, opencode, pi")
    failed(run("sessions", "import", "--from", "codex", path), 2, "no conversation as that host writes it")
    assert run("sessions", "list").out == ""
    failed(run("sessions", "import", "--from", "codex"), 2, "--latest")
    failed(run("sessions", "import", "--from", "codex", "--latest"), 2, "CODEX_HOME")
    failed(run("sessions", "import", "--from", "opencode", "--latest"), 2, "export the session")
    failed(run("sessions", "import", "--latest"), 2, "--from HOST")
    failed(run("follow", path), 2, "--from claude-code")
