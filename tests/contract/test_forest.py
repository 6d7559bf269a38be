"""Context-Agent's forest: a message goes on, turns off, returns or begins anew; the view shows the path, and everything else in brief, once."""

from pathlib import Path

import pytest

from ctxfold import Session, sessions, verify_session
from ctxfold.errors import BranchError, InputError
from ctxfold.session.branches import Wish
from tests.support.sessions import add_steps, copy_session, events, settled

TRIP = "We want to spend 6 days in Kyoto with two kids for at most 4200 euros."
OSAKA = "What if we stayed in Osaka instead and took the train to Kyoto?"
LEAK = "By the way, our Node service leaks 50 MB of heap an hour since release 4.2."


def tell(session: Session, words: str, answer: str = "Noted.") -> None:
    """A message and its answer."""
    session.record_turn(user=words)
    session.record_reply(answer)


@pytest.fixture
def wandering(session: Session) -> Session:
    """Three branches: a trip, an alternative to it, another topic; one stands on the last."""
    tell(session, TRIP, "Kyoto in 6 days works well. Gion costs 180 euros a night.")
    tell(session, "Which neighbourhood is quiet at night?", "Nishijin is quiet, about 140 euros.")
    session.branch("create", at=1, to="osaka")
    tell(session, OSAKA, "Osaka is 30 minutes away; near Umeda a room costs 95 euros.")
    session.branch("new_topic", to="leak")
    tell(session, LEAK, "Compare two heap snapshots.")
    return session


@pytest.mark.parametrize(
    "words",
    [
        TRIP,
        OSAKA,
        LEAK,
        "Back to Osaka, please.",
        "By the way, another topic: taxes.",
        "Is there another way?",
        "好",
        "?",
    ],
)
def test_a_message_moves_nothing_by_itself(wandering: Session, words: str) -> None:
    before, log = wandering.tree(), len(events(wandering))
    moved = wandering.branch("auto", query=words)
    assert (moved.action, moved.branch, moved.tip) == ("continue", "leak", 4)
    assert (wandering.tree(), len(events(wandering))) == (before, log)


def test_the_branches_are_ranked_by_likeness_to_a_message(wandering: Session) -> None:
    for words, best in (
        ("Which station near Umeda, the room for 95 euros?", "osaka"),
        ("Is Nishijin a quiet neighbourhood?", "main"),
        ("Which heap snapshots should I compare?", "leak"),
    ):
        ranked = wandering.branch("auto", query=words).ranked
        assert ranked[0].name == best
        assert sorted(each.name for each in ranked) == ["leak", "main", "osaka"]
        assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
        assert 0 < ranked[0].score <= 1
        assert ("leak", "leak", LEAK) in [(each.name, each.topic, each.said) for each in ranked]
    nothing = wandering.branch("auto", query="zebra xylophone").ranked
    assert [each.name for each in nothing] == ["leak", "osaka", "main"], (
        "of equals where one stands, then what was left last"
    )


@pytest.mark.parametrize(
    ("action", "at", "to", "said"),
    [
        ("auto", None, "alt", "use switch"),
        ("auto", "s1", None, "use create"),
        ("continue", None, "alt", "use switch"),
        ("switch", "s1", "main", "use create"),
        ("new_topic", "s1", None, "use create"),
    ],
)
def test_a_place_that_a_move_has_no_use_for_is_not_passed_over(
    session: Session, action: Wish, at: str | None, to: str | None, said: str
) -> None:
    add_steps(session, 2)
    session.branch("create", to="alt")
    session.branch("switch", to="main")
    with pytest.raises(InputError, match=said):
        session.branch(action, at=at, to=to)
    assert session.branch_name == "main"


def test_a_branch_is_renamed_and_its_topic_with_it_and_both_come_back(wandering: Session) -> None:
    before = wandering.tree()
    assert wandering.branch("rename", to="heap-leak").branch == "heap-leak"
    assert wandering.branch_name == "heap-leak"
    assert wandering.tree()[1].name == "heap-leak"
    with pytest.raises(BranchError, match="main"):
        wandering.branch("rename", to="main")
    wandering.undo()
    assert wandering.tree() == before
    wandering.redo()
    assert wandering.branch_name == "heap-leak"


def test_a_new_name_changes_no_revision_and_survives_a_copy(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    with Session.open("trip", store=store) as session:
        tell(session, TRIP)
        session.branch("new_topic")
        tell(session, LEAK)
        session.branch("rename", to="leak")
        shown = settled(session)
    verify_session("trip", store)
    with Session.open("trip", store=str(copy_session(store, tmp_path))) as copy:
        assert settled(copy) == shown
        copy.undo()
        assert copy.branch_name != "leak"


def test_undo_of_a_name_that_is_taken_meanwhile_is_refused(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    with Session.open("trip", store=store) as session, Session.open("trip", store=store) as other:
        session.branch("rename", to="two")
        other.branch("new_topic", to="main")
        with pytest.raises(BranchError, match="main"):
            session.undo()
        assert session.branch_name == "two"


def test_a_revised_goal_stands_on_its_branch_and_is_told_alike_everywhere(database: Path) -> None:
    store = str(database)
    with Session.open("trip", goal="Lisbon", store=store) as session:
        session.record_turn("Hello")
        session.branch("create", to="other")
    with Session.open("trip", goal="Porto", store=store) as session:
        assert (session.branch_name, session.goal) == ("other", "Porto")
        assert goals_told(store) == ("Porto", "Porto")
        session.branch("create", to="later")
        assert session.goal == "Porto"
        session.branch("switch", to="main")
        assert session.goal == "Lisbon"
        assert goals_told(store) == ("Lisbon", "Lisbon")
        session.branch("switch", to="later")
        assert goals_told(store) == ("Porto", "Porto")


def goals_told(store: str) -> tuple[str, str]:
    """The goal as the list of sessions tells it, and as a new handle does."""
    with Session.open("trip", store=store) as handle:
        return sessions(store)[0].goal, handle.goal
