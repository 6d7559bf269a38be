"""The to-do and extracts from the shell. The commands are called by their functions: which name finds them is the packaging's to test."""

from __future__ import annotations

import json
from contextvars import Context
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from ctxfold import Session
from ctxfold.cli.decide import extract, todo
from ctxfold.errors import InputError

pytestmark = pytest.mark.usefixtures("ctxfold_home")


def invoked(command: click.Command, arguments: list[str], **options: Any) -> Result:
    """A command's end, run with nothing of an event loop that other tests keep."""
    return Context().run(CliRunner().invoke, command, arguments, **options)


@pytest.fixture
def trip() -> str:
    """A session with a request, a bound and a search."""
    with Session.open("trip") as session:
        session.record_turn(user="Book a room in Porto, at most 90 EUR.")
        session.record_step(
            calls=[{"name": "search", "args": {"q": "rooms"}, "id": "c"}],
            results=[{"id": "c", "text": "Casa Rui, 80 EUR\nVila Sol, 95 EUR\nHotel Mar, 60 EUR"}],
        )
    return "trip"


def test_the_register_is_written_and_shown(trip: str) -> None:
    nothing = invoked(todo, [trip])
    assert nothing.stdout == ""
    assert "--add, --constraint or --decision" in nothing.stderr
    asked = invoked(todo, [trip, "--plan"])
    assert asked.stdout == ""
    assert "no model is set to plan with" in asked.stderr
    invoked(todo, [trip, "--add", "Book a room in Porto", "--constraint", "at most 90 EUR"], catch_exceptions=False)
    shown = invoked(todo, [trip, "--constraint", "c1=at most 95 EUR", "--decision", "by = train"])
    assert [line.split() for line in shown.stdout.splitlines()] == [
        "t1 open Book a room in Porto".split(),
        "c1 superseded by c2 at most 90 EUR [s1.1]".split(),
        "c2 holds at most 95 EUR [s1]".split(),
        "d1 holds by = train [s1]".split(),
    ]
    closed = invoked(
        todo,
        [
            trip,
            "--add",
            "Pack",
            "--drop",
            "t1=s1.1",
            "--done",
            "t2",
            "--constraint",
            "c2=",
            "--decision",
            "d1=",
            "--json",
        ],
    )
    told = json.loads(closed.stdout)
    assert [(item["id"], item["state"], item["evidence"]) for item in told["items"]] == [
        ("t1", "dropped", ["s1.1"]), ("t2", "done", []),
    ]  # fmt: skip
    assert [each["lifted"] for each in (*told["constraints"], *told["decisions"])] == [False, True, True]


@pytest.mark.parametrize("entry", ["t9", "t1=s9", "=s1.1", ""])
@pytest.mark.parametrize("option", ["--done", "--drop"])
def test_an_item_or_a_ref_that_is_not_there_is_refused(trip: str, option: str, entry: str) -> None:
    invoked(todo, [trip, "--add", "Pack"])
    with pytest.raises(InputError):
        invoked(todo, [trip, option, entry], catch_exceptions=False)


def test_lines_are_extracted_by_ref_and_by_need(trip: str) -> None:
    by_ref = invoked(extract, [trip, "s1:2-3"])
    assert by_ref.stdout == "s1.3:2-3\nVila Sol, 95 EUR\nHotel Mar, 60 EUR\n"
    by_need = invoked(extract, [trip, "--need", "Hotel Mar", "--json"])
    assert "Hotel Mar, 60 EUR" in json.loads(by_need.stdout)["extracts"][0]["text"]
    nothing = invoked(extract, [trip, "--need", "zebra"])
    assert (nothing.stdout, nothing.exit_code) == ("", 0)
