"""The to-do and extracts from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run, failed
from tests.support.sessions import add_call

pytestmark = pytest.mark.usefixtures("ctxfold_home")


@pytest.fixture
def trip() -> str:
    """A session with a request, a bound and a search."""
    with Session.open("trip") as session:
        session.record_turn(user="Book a room in Porto, at most 90 EUR.")
        add_call(session, "search", {"q": "rooms"}, "Casa Rui, 80 EUR\nVila Sol, 95 EUR\nHotel Mar, 60 EUR")
    return "trip"


def test_the_register_is_written_and_shown(run: Run, trip: str) -> None:
    nothing = run("todo", trip)
    assert nothing.out == ""
    assert "--add, --constraint or --decision" in nothing.err
    asked = run("todo", trip, "--plan")
    assert asked.out == ""
    assert "no model is set to plan with" in asked.err
    run("todo", trip, "--add", "Book a room in Porto", "--constraint", "at most 90 EUR")
    shown = run("todo", trip, "--constraint", "c1=at most 95 EUR", "--decision", "by = train")
    assert [line.split() for line in shown.out.splitlines()] == [
        "t1 open Book a room in Porto".split(),
        "c1 superseded by c2 at most 90 EUR [s1.1]".split(),
        "c2 holds at most 95 EUR [s1]".split(),
        "d1 holds by = train [s1]".split(),
    ]
    changes = "--add Pack --drop t1=s1.1 --done t2 --constraint c2= --decision d1= --json"
    register = json.loads(run("todo", trip, *changes.split()).out)
    assert [(item["id"], item["state"], item["evidence"]) for item in register["items"]] == [
        ("t1", "dropped", ["s1.1"]), ("t2", "done", []),
    ]  # fmt: skip
    assert [bound["lifted"] for bound in (*register["constraints"], *register["decisions"])] == [False, True, True]


@pytest.mark.parametrize("entry", ["t9", "t1=s9", "=s1.1", ""])
@pytest.mark.parametrize("option", ["--done", "--drop"])
def test_an_item_or_a_ref_that_is_not_there_is_refused(run: Run, trip: str, option: str, entry: str) -> None:
    run("todo", trip, "--add", "Pack")
    failed(run("todo", trip, option, entry), 2)


def test_lines_are_extracted_by_ref_and_by_need(run: Run, trip: str) -> None:
    assert run("extract", trip, "s1:2-3").out == "s1.3:2-3\nVila Sol, 95 EUR\nHotel Mar, 60 EUR\n"
    by_need = json.loads(run("extract", trip, "--need", "Hotel Mar", "--json").out)
    assert "Hotel Mar, 60 EUR" in by_need["extracts"][0]["text"]
    nothing = run("extract", trip, "--need", "zebra")
    assert (nothing.out, nothing.code) == ("", 0)


def test_a_model_extracts_with_the_tools_of_a_file_and_the_hint_is_printed(run: Run, trip: str, tmp_path: Path) -> None:
    tools, script = tmp_path / "tools.json", tmp_path / "script.json"
    tools.write_text(json.dumps({"tools": [{"name": "book", "inputSchema": {"properties": {"room": {}}}}]}))
    lines = {"ref": "s1.3:3", "constraints": ["below 90 EUR"]}
    script.write_text(json.dumps([{"selections": [lines], "hint": "Book Hotel Mar with book."}]))
    done = run("extract", trip, "--tools", str(tools), "--model", f"script:{script}")
    assert done.out == "s1.3:3-3\nHotel Mar, 60 EUR\n"
    assert "below 90 EUR" in done.err
    assert run("context", trip).out.rstrip().endswith("Book Hotel Mar with book.")
    with Session.open(trip) as session:
        assert session.known_tools == ("book(room)",)
    assert run("extract", trip, "s1.1", "--hint", "Ask first.").code == 0
    assert "Ask first." in run("context", trip).out
    tools.write_text("nothing")
    failed(run("record", "new", "--user", "x", "--tools", str(tools)), 2)
