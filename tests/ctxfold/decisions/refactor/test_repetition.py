"""What the router takes for repetition, and what not: the same calls with the same arguments and the same results, nothing read out of words."""

import pytest

from ctxfold import Session
from tests.support.faults import called, failing, visited
from tests.support.sessions import events, settled


@pytest.fixture
def session():
    """A request."""
    with Session.open("trip", goal="Refund", store=":memory:") as opened:
        opened.record_turn(user="Refund W-2003.")
        yield opened


def test_two_failures_are_no_loop_and_three_are(session: Session):
    failing(session, 2)
    assert session.refactor().operator == "none"
    failing(session, 1)
    assert session.refactor().operator == "path_prune"


@pytest.mark.parametrize(
    "answer", ["Error: locked", "no seats", "OK", "错误", '{"is_error": false, "seats": []}', "[]"]
)
def test_no_word_of_a_result_matters(session: Session, answer: str):
    for _ in range(4):
        called(session, "search", {"q": "flat in Porto with a view of the sea"}, answer, "Trying it once more. " * 8)
    assert session.refactor().operator == "path_prune"


def test_what_happens_in_between_ends_a_loop(session: Session):
    for at in range(3):
        called(session, "refund", {"order": "W-2003"}, "Error: locked")
        called(session, "unlock", {"order": "W-2003"}, f"unlocked, token U-{at}77")
    called(session, "refund", {"order": "W-2003"}, "refunded, see R-1")
    assert session.refactor().operator == "none"


def test_a_loop_in_the_past_is_pruned_too_and_what_came_after_stays(session: Session):
    steps = failing(session, 4)
    visited(session, "lisboa")
    last = settled(session)
    result = session.refactor()
    assert result.steps == tuple(steps)
    assert settled(session).endswith(last[last.index(f"s{steps[-1] + 1} ") :])


def test_a_healthy_history_is_left_alone_without_a_trace(session: Session):
    for page in "abc":
        visited(session, page)
    before, log = settled(session), events(session)
    assert session.refactor().operator == "none"
    assert (settled(session), events(session)) == (before, log)


def test_pruning_goes_on_as_the_loop_does_and_stays_bounded(session: Session):
    for _ in range(40):
        failing(session, 1)
        session.refactor()
    assert len(session.workspace.blocks) <= 20
    assert session.workspace.guidance.made <= 8 + 40 // 4


def test_what_a_step_took_in_after_it_was_looked_at_counts():
    """The user's words were looked at before the first call filled their step; results came late."""
    with Session.open("trip", store=":memory:") as session:
        session.record_turn(user="Refund W-2003.")
        assert session.refactor().operator == "none"
        failing(session, 3)
        slow = session.record_step("Asking.", [{"name": "refund", "args": {"order": "W-2004"}, "id": "c1"}]).step
        visited(session, "lisboa")
        assert session.refactor().steps == (1, 2, 3)
        visited(session, "porto")
        session.record_result(slow, "c1", '{"error": "locked"}')
        visited(session, "sines")
        assert session.refactor().operator == "none"
