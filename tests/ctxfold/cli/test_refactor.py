"""Refactoring from the shell: the diff before and after, a dry run, refusals with their code, a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run, failed
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
    refused = run("refactor", trip, "--operator", "cognitive_boosting", "--text", "Ask about W-9999.")
    assert (refused.code, refused.out) == (1, "")
    assert "refused, nothing changed: it holds 1 value that the history does not have" in refused.err
    assert (
        json.loads(run("refactor", trip, "--operator", "attention_anchor", "--text", "", "--json").out)["applied"]
        is False
    )


def test_a_model_routes_and_writes_and_is_held_to_the_checks(run: Run, trip: str, tmp_path: Path) -> None:
    decisions = [
        {"analysis": "Lost.", "drift_detected": True, "selected_operator": "cognitive_boosting"},
        {"text": "Ask about W-9999."},
        {"text": "Refund W-2003 to another card."},
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(decisions), encoding="utf-8")
    done = json.loads(run("refactor", trip, "--model", f"script:{script}", "--json").out)
    assert (done["operator"], done["applied"], done["decider"]) == ("cognitive_boosting", True, "model")
    assert "[Thought]" in view()
    failed(run("refactor", trip, "--model", f"script:{script}", "--dry-run"), 2, "--dry-run")
