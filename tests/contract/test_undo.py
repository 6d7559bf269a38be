"""The data model's undo, fork and prune: undo voids a decision, never a record; a fork adds one head and copies nothing."""

from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import BranchError, RefError, SessionNameError, UndoError
from tests.support.sessions import add_call, add_step, add_steps, copy_session, cover, one_line, path, settled, texts


def test_undo_and_redo_survive_a_restart(database: Path) -> None:
    with Session.open("trip", store=str(database)) as first:
        add_steps(first, 4)
        first.fold(summary="One.", first_step=1, last_step=2)
        one = settled(first)
        first.fold(summary="Two.", first_step=3, last_step=4)
        two = settled(first)
        first.undo()
    with Session.open("trip", store=str(database)) as second:
        assert settled(second) == one
        second.redo()
        assert settled(second) == two
        second.undo()
        second.undo()
        with pytest.raises(UndoError):
            second.undo()


def test_undo_takes_decisions_of_the_handles_branch_only(session: Session) -> None:
    add_steps(session, 4)
    home = session.branch_name
    session.branch("create", at=4, to="other")
    add_steps(session, 3, first=5)
    session.fold(summary="On the other branch.", first_step=5, last_step=6)
    session.branch("switch", to=home)
    session.fold(summary="At home.", first_step=1, last_step=2)
    session.undo()
    assert cover(session) == [(1,), (2,), (3,), (4,)]
    session.branch("switch", to="other")
    assert (5, 6) in cover(session)


def test_undoing_a_fork_keeps_its_head_and_its_records(session: Session) -> None:
    add_steps(session, 4)
    home = session.branch_name
    session.branch("create", at=2, to="other")
    step = add_step(session, 5)
    session.undo()
    assert session.branch_name == home
    assert path(session) == [1, 2, 3, 4]
    assert branches(session) >= {home, "other"}
    assert "END-5" in session.recall(f"s{step}").text
    session.branch("switch", to="other")
    assert path(session) == [1, 2, 5]


def branches(session: Session) -> set[str]:
    """The names of every branch of every topic."""
    return {branch.name for topic in session.tree() for branch in topic.branches}


def test_a_fork_copies_nothing(database: Path) -> None:
    with Session.open("trip", store=str(database)) as session:
        add_steps(session, 150, words=320)
        raw = sum(len(text.encode()) for n in range(1, 151) for text in texts(session, n))
    before = size(database)
    with Session.open("trip", store=str(database)) as session:
        for n in range(50):
            session.branch("create", at=149 - n, to=f"try-{n}")
        assert session.tip == 100
    grown = size(database) - before
    assert grown < 0.25 * raw, f"50 forks of {raw} bytes grew the file by {grown}"


def size(database: Path) -> int:
    """Bytes of the database and its write-ahead log."""
    return sum(file.stat().st_size for file in database.parent.glob(database.name + "*"))


def test_a_new_topic_is_a_root_of_its_own_under_the_same_goal(session: Session) -> None:
    add_steps(session, 3)
    home = session.branch_name
    before = session.tree()
    moved = session.branch("new_topic", to="food")
    assert (moved.branch, moved.tip) == (session.branch_name, 0)
    assert path(session) == []
    assert len(session.tree()) == len(before) + 1
    assert "END-1" not in settled(session)
    assert "Plan three days in Lisbon" in settled(session)
    step = add_step(session, 4)
    assert path(session) == [step]
    session.branch("switch", to=home)
    assert path(session) == [1, 2, 3]


@pytest.mark.parametrize("at", [0, 99, -1, "s99", "s0", "nowhere", "s1.2"])
def test_a_fork_at_a_step_that_is_not_there_is_refused(session: Session, at: int | str) -> None:
    add_steps(session, 3)
    with pytest.raises((BranchError, RefError), match=one_line()):
        session.branch("create", at=at, to="other")
    assert "other" not in branches(session)
    assert session.tip == 3


def test_a_branch_name_in_use_or_outside_the_pattern_is_refused(session: Session) -> None:
    add_steps(session, 2)
    with pytest.raises(BranchError):
        session.branch("create", to=session.branch_name)
    for name in ("Other", "-x", "a b", "é", "x" * 65, "../x", ""):
        with pytest.raises((SessionNameError, BranchError)):
            session.branch("create", to=name)


def test_a_switch_to_an_unknown_branch_is_refused_naming_those_there_are(session: Session) -> None:
    add_steps(session, 2)
    session.branch("create", to="other")
    with pytest.raises(BranchError, match=one_line("other")):
        session.branch("switch", to="nowhere")
    assert session.branch_name == "other"


def test_redo_of_a_move_leaves_what_was_decided_there_meanwhile(database: Path) -> None:
    with Session.open("trip", store=str(database)) as one:
        add_steps(one, 4)
        one.branch("create", to="other")
        raw = settled(one)
        with Session.open("trip", store=str(database)) as two:
            one.undo()
            two.fold(summary="Two pages.", first_step=2, last_step=3)
            one.redo()
            assert (2, 3) in cover(one)
            one.undo()
        assert (one.branch_name, settled(one)) == ("other", raw)


def test_notes_and_late_results_are_records_and_stay(session: Session) -> None:
    add_steps(session, 2)
    slow = add_call(session, "slow")
    session.fold(summary="Two pages.", first_step=1, last_step=2)
    session.record_note("Bring coins.", origin="user")
    session.record_result(slow, "c1", "LATE-ANSWER")
    session.undo()
    shown = settled(session)
    assert "Bring coins." in shown
    assert "LATE-ANSWER" in shown
    assert not [tile for tile in cover(session) if len(tile) > 1]


def test_restore_goes_back_as_one_decision_and_keeps_every_record(database: Path, tmp_path: Path) -> None:
    with Session.open("trip", goal="Lisbon", store=str(database)) as session:
        add_steps(session, 4)
        session.plan(todo=["book"], constraints=["no flights"])
        session.fold("One.", 1, 2)
        version = session.history(1)[0].seq
        session.plan(todo=[{"id": "t1", "state": "done"}, "pay"], constraints=["no hostels"], goal="Porto")
        session.fold("All.", 1, 4)
        add_steps(session, 2, first=5)
        before = settled(session)
        event = session.restore(f"v{version}")
        assert (event.kind, session.history(1)[0].seq) == ("restored", event.seq)
        after = settled(session)
        assert cover(session) == [(1, 2), (3,), (4,), (5,), (6,)]
        assert [(item.text, item.state) for item in session.intent.items] == [("book", "open")]
        constraints = [each.text for each in session.intent.binding]
        assert constraints == ["no flights", "no hostels"], "they are the session's, not a version's"
        assert session.goal == "Lisbon"
        assert "END-6" in after
        with pytest.raises(UndoError):
            session.restore(version)
    with Session.open("trip", store=str(copy_session(database, tmp_path))) as copy:
        copy.undo()
        assert (settled(copy), copy.goal) == (before, "Porto")
        copy.redo()
        assert (settled(copy), copy.goal) == (after, "Lisbon")
        copy.undo()
        assert copy.undo().kind == "folded"


def test_restore_on_another_branch_is_refused_naming_switch(session: Session) -> None:
    add_steps(session, 3)
    session.fold("One.", 1, 2)
    session.branch("create", at=3, to="other")
    shown = settled(session)
    with pytest.raises(BranchError, match=one_line("switch to main")):
        session.restore(4)
    assert settled(session) == shown


@pytest.mark.parametrize("way", ["redo", "restore"])
def test_no_way_back_to_a_fold_hides_what_was_recorded_in_its_steps_since(session: Session, way: str) -> None:
    add_steps(session, 1)
    session.record_turn("First words.")
    session.fold("Folded.", 1, 2)
    version = session.history(1)[0].seq
    session.undo()
    session.record_turn("No planes, ever.")
    if way == "redo":
        session.redo()
    else:
        with pytest.raises(UndoError):
            session.restore(version)
    assert "No planes, ever." in settled(session)


def test_undo_on_a_fork_leaves_out_tiles_that_reach_beyond_it(database: Path) -> None:
    with Session.open("trip", store=str(database)) as first:
        add_steps(first, 6)
        first.fold("One.", 1, 2)
        first.fold("Two.", 5, 6)
        first.fold("All.", 1, 6)
        first.branch("create", at=3, to="other")
        with Session.open("trip", store=str(database)) as second:
            first.undo()
            second.undo()
            assert cover(second) == [(1, 2), (3,)]
