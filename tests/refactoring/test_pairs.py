"""Material for learning: each routed decision with what followed, as numbers; and a session forked at a refactoring for the comparison."""

import json
from pathlib import Path
from typing import Any

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import BranchError, CtxfoldError
from tests.support.faults import called, clean, failing, look_up, visited
from tests.support.sessions import settled


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store file."""
    return str(tmp_path / "store.db")


def pairs(store: str, tmp_path: Path) -> list[dict[str, Any]]:
    """What is exported."""
    ctxfold.export_router_pairs("trip", tmp_path / "pairs.jsonl", store=store)
    return [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]


def test_a_prune_after_which_it_went_better_is_corrective(store: str, tmp_path: Path):
    with Session.open("trip", store=store) as session:
        session.record_turn(user="Refund W-2003.")
        failing(session, 4)
        assert session.refactor().applied
        for order in ("W-2001", "W-2002"):
            look_up(session, order)
        session.refactor()
    first, *rest = pairs(store, tmp_path)
    assert (first["operator"], first["outcome"]["kind"], first["outcome"]["verdict"]) == (
        "path_prune",
        "corrective",
        "applied",
    )
    assert (first["outcome"]["failing_before"], first["outcome"]["failing_after"]) == (1.0, 0.0)
    assert first["features"]["loops"] >= 3
    assert rest == []


def test_a_prune_after_which_the_same_was_tried_again_is_to_be_left_alone(store: str, tmp_path: Path):
    with Session.open("trip", store=store) as session:
        session.record_turn(user="Refund W-2003.")
        failing(session, 4)
        assert session.refactor().applied
        failing(session, 1)
    (only,) = pairs(store, tmp_path)
    assert (only["outcome"]["kind"], only["outcome"]["repeated"]) == ("leave alone", True)


def test_one_that_was_undone_and_one_that_left_it_alone_are_told_so(store: str, tmp_path: Path):
    with Session.open("trip", store=store) as session:
        clean(session)
        session.refactor()
        session.record_turn(user="Yes, refund it.")
        failing(session, 4)
        session.refactor()
        session.undo()
        look_up(session, "W-2001")
    left, undone = pairs(store, tmp_path)
    assert (left["operator"], left["outcome"]["kind"], left["outcome"]["verdict"]) == ("none", "leave alone", "left")
    assert (undone["operator"], undone["outcome"]["kind"], undone["outcome"]["undone"]) == (
        "path_prune",
        "leave alone",
        True,
    )


def test_as_good_on_much_less_is_compressive(store: str, tmp_path: Path):
    with Session.open("trip", store=store) as session:
        session.record_turn(user="Compare the harbors.")
        for _ in range(4):
            called(
                session,
                "read",
                {"page": "lisboa"},
                "HB-22 is free. " + "The quay is long and old. " * 3,
                "I look at it again. " * 9,
            )
        assert session.refactor().applied
        visited(session, "porto")
    (only,) = pairs(store, tmp_path)
    assert only["outcome"]["kind"] == "compressive"
    assert only["outcome"]["tokens_after"] < 0.8 * only["outcome"]["tokens_before"]


def test_no_word_of_the_log_leaves_with_the_numbers(store: str, tmp_path: Path):
    with Session.open("trip", goal="Refund W-2003", store=store) as session:
        clean(session)
        session.record_turn(user="Yes, refund it.")
        failing(session, 4)
        session.refactor()
        look_up(session, "W-2001")
    (only,) = pairs(store, tmp_path)
    text = json.dumps(only)
    assert not any(word in text for word in ("W-200", "4471", "refund", "Porto", "mia.li"))
    assert all(isinstance(value, (int, float)) for value in only["features"].values())


def test_a_decision_of_a_host_is_not_the_routers(store: str, tmp_path: Path):
    with Session.open("trip", store=store) as session:
        clean(session)
        session.refactor("attention_anchor", "Refund W-2003.")
        look_up(session, "W-2001")
    assert pairs(store, tmp_path) == []


def test_a_session_is_forked_at_a_refactoring_and_the_branches_are_compared(store: str, tmp_path: Path):
    with Session.open("trip", store=store) as session:
        session.record_turn(user="Refund W-2003.")
        failing(session, 4)
        before = settled(session)
        assert session.refactor().applied
        after = settled(session)
        fork = session.compare()
        assert session.branch_name == "main"
        assert settled(session) == after
        session.branch("switch", to=fork.baseline)
        assert settled(session).startswith(before)
        failing(session, 2)
        session.branch("switch", to=fork.refactored)
        assert settled(session).startswith(after)
        look_up(session, "W-2001")
        look_up(session, "W-2002")
        with pytest.raises(BranchError):
            session.compare(fork.event)
    compared = next(pair for pair in pairs(store, tmp_path) if pair["outcome"]["compared"])
    assert (compared["outcome"]["failing_before"], compared["outcome"]["failing_after"]) == (1.0, 0.0)
    assert compared["outcome"]["kind"] == "corrective"
    assert ctxfold.verify_session("trip", store=store) > 0


def test_without_a_refactoring_there_is_nothing_to_fork_at(store: str):
    with Session.open("trip", store=store) as session:
        clean(session)
        for event in (None, 1, 99):
            with pytest.raises(CtxfoldError):
                session.compare(event)
