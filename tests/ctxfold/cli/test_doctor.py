"""What `ctxfold doctor` says, and what it ends with."""

from __future__ import annotations

import importlib.metadata
import json
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ctxfold.cli import doctor
from ctxfold.store import sqlite
from tests.ctxfold.cli.conftest import Run


@pytest.fixture(autouse=True)
def no_brought_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core's own checks alone, unless a test brings some."""
    bring(monkeypatch)


def bring(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    entries = [importlib.metadata.EntryPoint(name, value, doctor.GROUP) for name, value in values.items()]
    monkeypatch.setattr(doctor, "entry_points", lambda group: entries)


def checked(run: Run) -> tuple[int, dict[str, dict[str, Any]]]:
    ran = run("doctor", "--json")
    return ran.code, {check["name"]: check for check in json.loads(ran.out)["checks"]}


def test_a_machine_that_has_what_is_needed_ends_with_nought(run: Run) -> None:
    code, found = checked(run)
    assert code == 0
    roles = {"model", "folder", "planner", "router", "reader"}
    assert {"python", "store", "sqlite", "tokens", "key", "settings", *roles} == set(found)
    assert all(check["ok"] for name, check in found.items() if name != "key")
    assert found["model"]["fact"] == "explorer"


def test_a_key_is_told_by_its_variable_and_never_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    shown = run("doctor")
    assert "ANTHROPIC_API_KEY is set" in shown.out
    assert "very-secret" not in shown.out + shown.err


def test_a_store_that_does_not_open_ends_with_three_and_names_the_fix(run: Run, ctxfold_home: Path) -> None:
    ctxfold_home.mkdir(parents=True)
    (ctxfold_home / "ctxfold.db").write_text("not a database " * 100, encoding="utf-8")
    code, found = checked(run)
    assert code == 3
    assert not found["store"]["ok"]
    assert "CTXFOLD_HOME" in found["store"]["fix"]


def test_bytes_of_a_redaction_that_wait_for_a_reader_are_told_and_taken_out_when_it_is_done(
    run: Run, paris: str, ctxfold_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held() -> bytes:
        return b"".join(file.read_bytes() for file in ctxfold_home.glob("ctxfold.db*"))

    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with closing(sqlite3.connect(ctxfold_home / "ctxfold.db", isolation_level=None)) as reader:
        run("record", paris, "--user", "My code is 4711-0815-XY.")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchone()
        ran = run("redact", paris, "4711-0815-XY", "--yes")
        assert ran.code == 3
        assert "committed" in ran.err
        code, found = checked(run)
        assert code == 3
        assert "still holds bytes" in found["store"]["fact"]
        assert "ctxfold doctor" in found["store"]["fix"]
        assert b"4711-0815-XY" in held()
        reader.execute("ROLLBACK")
        code, found = checked(run)
        assert code == 0
        assert found["store"]["ok"]
        assert b"4711-0815-XY" not in held()


def test_a_models_server_that_is_not_there_is_told_with_what_to_check(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{held.getsockname()[1]}")
        code, found = checked(run)
    assert code == 0
    assert not found["endpoint"]["ok"]
    assert "ANTHROPIC_BASE_URL" in found["endpoint"]["fix"]


def test_each_roles_model_and_server_is_told_and_no_key(
    run: Run, ctxfold_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-agent-secret")
    monkeypatch.setenv("CTXFOLD_FOLDER_KEY", "sk-folder-secret")
    monkeypatch.setenv("CTXFOLD_FOLDER_ENDPOINT", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CTXFOLD_FOLDER_MODEL", "openai:strong")
    code, found = checked(run)
    assert code == 0
    assert "ANTHROPIC_API_KEY is set" in found["model"]["fact"]
    assert "at most $1.00" in found["model"]["fact"]
    assert found["folder"]["fact"].startswith("openai:strong, at http://127.0.0.1:9/v1, key from CTXFOLD_FOLDER_KEY")
    assert found["planner"]["fact"] == "as the folder"
    assert not found["endpoint"]["ok"]
    assert "secret" not in str(found)


def test_a_check_that_does_not_load_is_itself_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, browser="no_such_package:look")
    code, found = checked(run)
    assert code == 3
    assert "no_such_package" in found["browser"]["fact"]
