"""Changing sessions from the shell: record, undo, redo, redact, export, import, delete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run, failed


def text_of(name: str, ref: str) -> str:
    with Session.open(name) as session:
        return session.recall(ref).text


def test_a_pipe_is_recorded_as_what_a_tool_gave_and_its_step_is_printed(run: Run) -> None:
    done = run("record", "work", "--call", "make test", stdin=b"12 passed\r\n")
    assert (done.code, done.out) == (0, "s1\n")
    assert "new session work" in done.err
    assert text_of("work", "s1.2") == "12 passed\r\n"
    assert "make test" in text_of("work", "s1.1")


STEP = {
    "explanation": "Look.",
    "calls": [{"name": "ls", "args": {}, "id": "a"}],
    "results": [{"id": "a", "text": "README"}],
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(STEP) + "\n" + json.dumps(STEP) + "\n",
        json.dumps([STEP, STEP]),
        json.dumps([STEP, STEP], indent=2),
        "\n".join(json.dumps({**STEP, "explanation": "one\u2028two\x85three"}, ensure_ascii=False) for _ in range(2)),
    ],
    ids=["lines", "array", "indented", "signs that break lines elsewhere"],
)
def test_whole_steps_come_as_json(run: Run, text: str) -> None:
    done = run("record", "work", "--step", "-", "--json", stdin=text.encode())
    assert json.loads(done.out) == {"session": "work", "steps": [1, 2]}
    assert text_of("work", "s2.3") == "README"


@pytest.mark.parametrize(
    ("options", "stdin", "said"),
    [
        ((), b"", "standard input is empty"),
        ((), b"\xff\xfe", "not UTF-8 text (byte 0)"),
        (("--user", "a", "--reply", "b"), b"", "one thing at a time"),
        (("--step", "{not json"), b"", "line 1 is not JSON"),
        (("--step", '{"explanation": "a"}\n{"typo": 1}'), b"", "step 2 is not an object of"),
        (("--step", "[1]"), b"", "step 1 is not an object of"),
        (("--step", "[]"), b"", "no step in that"),
        (("--step", '{"calls": 5}'), b"", "step 1: calls must be a list"),
        (("--step", '{"explanation": "a"}\n{"explanation": 5}'), b"", "step 2: an assistant's message is a text"),
        (
            ("--step", '{"explanation": "a"}\n{"results": [{"id": "x", "text": "b"}]}'),
            b"",
            "step 2: result 'x' answers no call",
        ),
    ],
)
def test_what_cannot_be_recorded_is_one_line_and_makes_no_session(
    run: Run, options: tuple[str, ...], stdin: bytes, said: str
) -> None:
    failed(run("record", "work", *options, stdin=stdin), 2, said)
    assert json.loads(run("sessions", "list", "--json").out) == []


def test_more_than_fits_in_one_record_is_refused_and_not_read_to_its_end(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxfold.cli.sessions.LARGEST", 1 << 20)
    assert run("record", "work", stdin=b"x" * (1 << 20)).code == 0
    failed(run("record", "work", stdin=b"x" * ((1 << 20) + 1)), 2, "longer than 1 MB")


def test_undo_gives_the_folded_step_back_and_redo_folds_it_again(run: Run, paris: str) -> None:
    folded = run("context", paris).out
    assert run("undo", paris).out == "undone: the fold of s2 into b1; you are on main, at s3\n"
    assert "Breakfast is extra" in run("context", paris).out
    assert run("redo", paris).out == "redone: the fold of s2 into b1; you are on main, at s3\n"
    assert run("context", paris).out == folded


def test_redaction_blanks_what_a_ref_names_and_says_how_much(run: Run, paris: str) -> None:
    before = text_of(paris, "s1.4")
    done = run("redact", paris, "s1.4", "--yes", "--json")
    assert json.loads(done.out)["records"] == 1
    assert "Lutetia" not in text_of(paris, "s1.4")
    assert len(text_of(paris, "s1.4").encode()) == len(before.encode()) or "Lutetia" not in run("context", paris).out


def test_what_cannot_be_undone_is_not_done_unasked(run: Run, paris: str) -> None:
    failed(run("redact", paris, "s1.4"), 2, "add --yes")
    failed(run("sessions", "delete", paris), 2, "add --yes")
    assert "Lutetia" in text_of(paris, "s1.4")


def test_a_session_goes_out_to_a_file_and_comes_back_under_another_name(
    run: Run, paris: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("sessions", "export", paris).code == 0
    assert run("sessions", "import", "paris.jsonl", "--name", "again").code == 0
    assert run("context", "again").out == run("context", paris).out


def test_an_export_writes_over_nothing_unless_told_to(run: Run, paris: str, tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine", encoding="utf-8")
    failed(run("sessions", "export", paris, str(there)), 2, "add --force")
    assert there.read_text(encoding="utf-8") == "mine"
    assert run("sessions", "export", paris, str(there), "--force").code == 0


def test_a_file_that_is_no_export_is_refused(run: Run, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader,\n", encoding="utf-8")
    failed(
        run("sessions", "import", str(letter)),
        2,
        "letter.txt is not a ",
        "ctxfold sessions export",
        "ctxfold record SESSION < letter.txt",
    )
    letter.write_text("[1]\n", encoding="utf-8")
    failed(run("sessions", "import", str(letter)), 2, "letter.txt is not a ")
    failed(run("sessions", "import", str(tmp_path / "none")), 2, "does not exist")
