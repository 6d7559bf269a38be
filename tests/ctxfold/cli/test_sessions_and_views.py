"""Looking at sessions: list, show, context, log, tree, recall; as text, as JSON, into pipes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run, failed, spawn
from tests.support.sessions import add_call


def test_an_empty_store_lists_nothing_and_says_how_to_begin(run: Run) -> None:
    listed = run("sessions", "list")
    assert (listed.code, listed.out) == (0, "")
    assert "ctxfold record" in listed.err
    assert json.loads(run("sessions", "list", "--json").out) == []


@pytest.mark.parametrize(
    "command", [("sessions", "list"), ("sessions", "show", "trip"), ("context", "trip"), ("undo", "trip")], ids=" ".join
)
def test_who_looks_where_no_store_is_makes_none(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    store = tmp_path / "mistyped" / "store.db"
    looked = run(*command, "--store", str(store))
    assert "record` makes one" in looked.err
    assert not store.parent.exists()


def test_what_is_printed_as_json_is_json(run: Run, paris: str) -> None:
    listed = json.loads(run("sessions", "list", "--json").out)
    assert (listed[0]["name"], listed[0]["steps"]) == ("paris", 3)
    shown = json.loads(run("sessions", "show", paris, "--json").out)
    assert shown["goal"] == "Plan three days in Paris"
    assert shown["view_tokens"] <= shown["budget"]
    with Session.open(paris) as session:
        assert (shown["raw_tokens"], shown["view_tokens"]) == (session.view().unfolded, session.view().tokens)
    view = json.loads(run("context", paris, "--json").out)
    assert view["tokens"] <= view["budget"] == 8000
    assert "Joël" in view["text"]
    events = json.loads(run("log", paris, "--json").out)
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    tree = json.loads(run("tree", paris, "--json").out)
    assert tree["topics"][0]["branches"][0]["name"] == tree["current"]
    found = json.loads(run("recall", paris, "s1.3", "--json").out)
    assert found["ref"] == "s1.3"
    hits = json.loads(run("recall", paris, "breakfast", "--json").out)
    assert hits[0]["ref"].startswith("s2")


def test_the_context_is_what_the_model_reads_and_stays_within_its_budget(run: Run, paris: str) -> None:
    with Session.open(paris) as session:
        assert run("context", paris).out == session.view().text + "\n"
        small = run("context", paris, "--budget", "256", "--json")
        assert json.loads(small.out)["text"] == session.view(256).text


def test_an_older_version_is_shown_compared_and_gone_back_to(run: Run, paris: str) -> None:
    with Session.open(paris) as session:
        old, version = session.view(8_000, fill=True).text, f"v{session.history(1)[0].seq}"
        session.fold("Breakfast is at eight.", 1, 2)
    assert run("context", paris, "--at", version).out == f"{old}\n"
    changed = run("diff", paris, version).out.splitlines()
    assert changed[:2] == [f"--- {version}", "+++ now"]
    assert any(line.startswith("+s1-s2 ") and "Breakfast is at eight." in line for line in changed)
    assert json.loads(run("diff", paris, version, "--json").out)["lines"] == changed
    same = run("diff", paris, version, version)
    assert (same.code, same.out) == (0, "")
    back = run("restore", paris, version)
    assert (back.code, run("context", paris).out) == (0, f"{old}\n")
    failed(run("diff", paris, version, "v999"), 2, "ctxfold log")


def test_a_ref_gives_the_exact_bytes_and_nothing_else(run: Run) -> None:
    text = "first\r\n\x00second\u2028\tJoël\n\n"
    with Session.open("raw") as session:
        step = add_call(session, "a", None, text)
    got = spawn("recall", "raw", f"s{step}.2")
    assert (got.returncode, got.stdout, got.stderr) == (0, text.encode(), b"")


def test_words_that_stand_nowhere_are_an_empty_answer(run: Run, paris: str) -> None:
    found = run("recall", paris, "submarine")
    assert (found.code, found.out) == (1, "")
    assert "nothing found in any record of paris for 'submarine': try other words" in found.err
    assert run("recall", paris, "submarine", "--json").code == 1
    beyond = run("recall", paris, "breakfast", "--skip", "9")
    assert beyond.code == 1
    assert "beyond the best 9" in beyond.err


@pytest.mark.parametrize(
    "command",
    [
        ("context",),
        ("log",),
        ("tree",),
        ("recall", "s1"),
        ("undo",),
        ("redo",),
        ("redact", "s1", "--yes"),
        ("sessions", "show"),
        ("sessions", "export"),
        ("sessions", "delete", "--yes"),
    ],
)
def test_a_session_that_is_not_there_is_named_with_the_nearest_and_none_is_made(
    run: Run, paris: str, command: tuple[str, ...]
) -> None:
    name, *rest = command
    words = [name, rest.pop(0)] if name == "sessions" else [name]
    failed(run(*words, "pariss", *rest), 2, "no session 'pariss'", "did you mean 'paris'?")
    assert [one["name"] for one in json.loads(run("sessions", "list", "--json").out)] == ["paris"]


@pytest.mark.parametrize("budget", ["0", "-5", "12", "255"])
def test_a_budget_below_the_least_is_one_line_that_names_the_least(run: Run, paris: str, budget: str) -> None:
    failed(run("context", paris, "--budget", budget), 2, "256")


def test_text_that_steers_a_terminal_is_shown_harmless_in_tables(run: Run) -> None:
    with Session.open("evil", goal="\x1b[2Jcleared\u202edetrevni") as session:
        session.record_turn(user="x")
    listed = run("sessions", "list").out
    assert "\x1b" not in listed
    assert "\\x1b[2Jcleared" in listed
    assert "\u202e" not in listed


def test_a_session_is_found_by_its_words_titled_by_its_first_request_and_handed_over(run: Run, tmp_path: Path) -> None:
    rules = tmp_path / "AGENTS.md"
    rules.write_text("- Never push to main.\n")
    assert run("record", "trip", "--user", "A hotel near the Louvre, please.", "--rules", str(rules)).code == 0
    assert run("record", "work", "--user", "Mend the build.").code == 0
    found = run("recall", "--all", "louvre")
    assert found.out.startswith("trip s1.1  A hotel near the Louvre, please.")
    assert run("recall", "--all", "louvre", "--prefix", "wo").code == 1
    assert "A hotel near the Louvre, please." in run("sessions", "list").out
    assert json.loads(run("sessions", "show", "work", "--json").out)["title"] == "Mend the build."
    assert run("sessions", "handoff", "trip", "trip-2").code == 0
    context = run("context", "trip-2").out
    assert "A hotel near the Louvre, please." in context
    assert "c1 Never push to main. (AGENTS.md:1)" in context
    again = run("sessions", "handoff", "trip", "work")
    assert (again.code, "name a session" in again.err) == (2, True)
