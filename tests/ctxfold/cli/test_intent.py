"""The to-do and extracts from the shell. The commands are called by their functions: which name finds them is the packaging's to test."""

from __future__ import annotations

import json
from contextvars import Context
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from ctxfold import Session
from ctxfold.cli.extract import extract
from ctxfold.cli.todo import todo
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


def test_a_to_do_is_planned_shown_and_closed_with_evidence(trip: str) -> None:
    nothing = invoked(todo, [trip])
    assert nothing.stdout == ""
    assert "--plan" in nothing.stderr
    shown = invoked(todo, [trip, "--plan"])
    assert shown.stdout.splitlines()[0].split() == "t1 open Book a room in Porto, at most 90 EUR.".split()
    assert "at most 90 EUR" in shown.stdout
    closed = invoked(todo, [trip, "--add", "Pack", "--drop", "t1=s1.1", "--json"], catch_exceptions=False)
    assert [(item["id"], item["state"]) for item in json.loads(closed.stdout)["items"]] == [
        ("t1", "dropped"),
        ("t2", "open"),
    ]


@pytest.mark.parametrize("entry", ["t1", "t1=", "=s1.1", ""])
@pytest.mark.parametrize("option", ["--done", "--drop"])
def test_a_claim_without_evidence_is_refused_in_the_words_of_the_shell(trip: str, option: str, entry: str) -> None:
    invoked(todo, [trip, "--plan"])
    with pytest.raises(InputError, match=f"{option} takes ID=REF, such as t2=s12"):
        invoked(todo, [trip, option, entry], catch_exceptions=False)


def test_lines_are_extracted_by_ref_and_by_need(trip: str) -> None:
    by_ref = invoked(extract, [trip, "s1:2-3"])
    assert by_ref.stdout == "s1.3:2-3\nVila Sol, 95 EUR\nHotel Mar, 60 EUR\n"
    by_need = invoked(extract, [trip, "--need", "Hotel Mar", "--json"])
    assert "Hotel Mar, 60 EUR" in json.loads(by_need.stdout)["extracts"][0]["text"]
    nothing = invoked(extract, [trip, "--need", "zebra"])
    assert (nothing.stdout, nothing.exit_code) == ("", 0)
