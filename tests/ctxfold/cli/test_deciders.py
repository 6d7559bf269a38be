"""Each decision from the shell by whoever is named: the person, a model, or the embedded decider; what falls back says so on standard error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run, failed
from tests.support.faults import clean
from tests.support.sessions import events

pytestmark = pytest.mark.usefixtures("ctxfold_home")

DECISIONS: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "fold": (["fold", "trip", "--first", "s1", "--last", "3"], {"summary": "Looked up W-2001 to W-2003."}, "folded"),
    "condense": (["fold", "trip", "--each", "1"], {"steps": [{"step": 5, "text": "W-2005 was found."}]}, "folded"),
    "plan": (
        ["todo", "trip", "--plan"],
        {"todo": [{"text": "Refund W-2003"}]},
        "intent_set",
    ),
    "extract": (["extract", "trip", "--need", "W-2003"], {"selections": [{"ref": "s1.3:1-2"}]}, "extracted"),
    "refactor": (
        ["refactor", "trip", "--operator", "cognitive_boosting"],
        {"text": "Refund W-2003 at once."},
        "refactored",
    ),
    "branch": (
        ["branch", "trip", "--query", "What if it were W-2002?"],
        {"action": "create", "step": "s2", "confidence": 0.9, "reason": "another order"},
        "moved",
    ),
}


@pytest.fixture
def trip() -> str:
    """Five orders looked up."""
    with Session.open("trip") as session:
        clean(session)
    return "trip"


def scripted(tmp_path: Path, *decisions: dict[str, Any]) -> str:
    """A model that gives these."""
    file = tmp_path / "script.json"
    file.write_text(json.dumps(decisions), encoding="utf-8")
    return f"script:{file}"


def made_by(kind: str) -> list[str]:
    """Who made the decisions of a kind."""
    with Session.open("trip") as session:
        return [event.decider for event in events(session) if event.kind == kind]


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("named", [True, False])
def test_a_model_that_is_named_or_set_decides(
    run: Run, trip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, named: bool
) -> None:
    assert trip
    words, good, kind = DECISIONS[name]
    model = scripted(tmp_path, good)
    if not named:
        monkeypatch.setenv("CTXFOLD_FOLDER_MODEL", model)
    done = run(*words, *(["--model", model] if named else []))
    assert (done.code, done.err) == (0, "")
    assert made_by(kind)[-1:] == ["model"]


@pytest.mark.parametrize("name", DECISIONS)
def test_a_model_that_gives_nothing_of_use_is_named_and_the_embedded_decider_decides(
    run: Run, trip: str, tmp_path: Path, name: str
) -> None:
    assert trip
    words, _, kind = DECISIONS[name]
    done = run(*words, "--model", scripted(tmp_path, {"x": 1}, {"x": 1}))
    assert "was refused twice, at last for its form" in done.err
    assert "model" not in made_by(kind)


def test_a_fold_tells_its_sub_task_or_condenses_each_of_the_last_steps(run: Run, trip: str) -> None:
    assert run("todo", trip, "--add", "Find the order").code == 0
    words = ["--first", "1", "--last", "2", "--status", "failed", "--outcome", "It was not W-2001.", "--todo", "t1"]
    tile = json.loads(run("fold", trip, *words, "--json").out)
    assert (tile["status"], tile["outcome"], tile["todo"]) == ("failed", "It was not W-2001.", "t1")
    assert run("fold", trip, "--each", "2").out.splitlines()[0].startswith("b2 stands for s5: ")
    failed(run("fold", trip, "--each", "2", "--first", "1"), 2, "--each")
    failed(run("fold", trip, "--status", "lost"), 2, "completed, partial, failed")


def test_a_fold_with_a_summary_is_the_persons(run: Run, trip: str) -> None:
    done = run("fold", trip, "--summary", "Looked up W-2001 to W-2003.", "--first", "1", "--last", "3")
    assert done.out.startswith("b1 stands for s1-s3: ")
    assert made_by("folded") == ["host"]
    assert json.loads(run("fold", trip, "--json").out)["origin"] == "embedded"
    failed(run("fold", trip, "--summary", "x", "--model", "explorer"), 2, "leave --summary out")
    failed(run("fold", trip, "--first", "s2", "--last", "s3"), 2, "lies inside a folded block")
