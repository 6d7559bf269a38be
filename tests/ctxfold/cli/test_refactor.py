"""Refactoring from the shell: the diff before and after, a dry run, refusals with their code, a model."""

from __future__ import annotations

import json

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run
from tests.support.faults import failing, look_up
from tests.support.sessions import settled

pytestmark = pytest.mark.usefixtures("ctxfold_home")


@pytest.fixture
def trip() -> str:
    """A session with a loop in it."""
    with Session.open("trip") as session:
        session.record_turn(user="Refund W-2003.")
        failing(session, 4)
        look_up(session, "W-2001")
    return "trip"


def view() -> str:
    """The session as it stands."""
    with Session.open("trip") as session:
        return settled(session)


def test_what_is_applied_is_shown_can_be_printed_as_json_and_undone(run: Run, trip: str) -> None:
    before = view()
    done = json.loads(run("refactor", trip, "--json").out)
    assert (done["operator"], done["applied"], done["dry_run"]) == ("path_prune", True, False)
    assert done["tokens"][1] < done["tokens"][0]
    assert "s4 ai: Trying once more" in done["before"]
    assert "failed" in done["after"]
    assert done["diff"]
    assert view() != before
    assert "left alone" in run("refactor", trip).out
    assert run("undo", trip).out.startswith("undone: the refactoring path_prune of s")
    assert view() == before


def test_a_refusal_ends_with_one_and_the_reason(run: Run, trip: str) -> None:
    refused = run("refactor", trip, "--operator", "cognitive_boosting", "--text", "```")
    assert (refused.code, refused.out) == (1, "")
    assert "refused, nothing changed: the text is empty" in refused.err
    assert (
        json.loads(run("refactor", trip, "--operator", "attention_anchor", "--text", "", "--json").out)["applied"]
        is False
    )
