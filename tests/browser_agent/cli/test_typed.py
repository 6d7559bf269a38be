"""A command that is printed works as it is typed."""

import sys
from pathlib import Path

import pytest

from browser_agent.cli.request import format_command


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in an environment that is not on the path, by which this process was started."""
    made = tmp_path / "my work" / ".venv" / "bin" / "ctxfold"
    made.parent.mkdir(parents=True)
    made.touch(0o755)
    monkeypatch.setattr(sys, "argv", [str(made)])
    monkeypatch.setenv("PATH", "")
    return made


def test_a_program_off_the_path_is_named_by_where_it_lies(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "my work")
    assert format_command("context", "one two") == ".venv/bin/ctxfold context 'one two'"
    monkeypatch.chdir(program.parent)
    assert format_command("context") == "./ctxfold context"
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    assert format_command("context") == f"'{program}' context"


def test_another_program_of_that_name_on_the_path_is_not_meant(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (other := tmp_path / "ctxfold").touch(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.chdir(program.parent.parent)
    assert format_command("context") == "bin/ctxfold context"
