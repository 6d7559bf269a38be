"""A session is forked at a refactoring, so that going on with and without it can be compared."""

from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import BranchError, CtxfoldError
from tests.support.faults import clean, failing, look_up
from tests.support.sessions import settled


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store file."""
    return str(tmp_path / "store.db")


def test_a_session_is_forked_at_a_refactoring(store: str):
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
    assert ctxfold.verify_session("trip", store=store) > 0


def test_without_a_refactoring_there_is_nothing_to_fork_at(store: str):
    with Session.open("trip", store=store) as session:
        clean(session)
        for event in (None, 1, 99):
            with pytest.raises(CtxfoldError):
                session.compare(event)
