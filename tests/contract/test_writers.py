"""The data model's writers: handles and branches, two writers at once, stale decisions, late results and their keys."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError, StaleDecision
from tests.support.sessions import add_call, add_step, add_steps, cover, events, one_line, path, settled, texts


def test_the_current_branch_belongs_to_the_handle(database: Path) -> None:
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        add_steps(one, 3)
        home = one.branch_name
        one.branch("create", at=2, to="other")
        assert two.branch_name == home
        add_step(two, 4)
        add_step(one, 5)
        assert path(two) == [1, 2, 3, 4]
        assert path(one) == [1, 2, 5]


def test_a_new_handle_starts_on_the_branch_last_moved_to(database: Path) -> None:
    with Session.open("trip", store=str(database)) as one:
        add_steps(one, 3)
        home = one.branch_name
        one.branch("create", at=2, to="other")
    with Session.open("trip", store=str(database)) as two:
        assert (two.branch_name, two.tip) == ("other", 2)
        two.branch("switch", to=home)
    with Session.open("trip", store=str(database)) as three:
        assert (three.branch_name, three.tip) == (home, 3)


def test_two_handles_on_one_branch_see_each_others_records(database: Path) -> None:
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        for seed in range(1, 9):
            add_step(one if seed % 2 else two, seed)
        assert path(one) == path(two) == list(range(1, 9))
        assert settled(one) == settled(two)
        assert one.tip == two.tip == 8
        one.fold(summary="Four pages.", first_step=2, last_step=5)
        assert (2, 3, 4, 5) in cover(two)


def test_records_of_two_threads_on_two_handles_all_succeed(database: Path) -> None:
    """Records append in one write transaction and always succeed: 60 from each, none lost, each number once."""

    def write(name: str) -> list[int]:
        with Session.open("trip", store=str(database)) as session:
            return [session.record_reply(f"{name}-{n}").step for n in range(60)]

    Session.open("trip", store=str(database)).close()
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(write, ["left", "right"])
    assert sorted([*one, *two]) == list(range(1, 121))
    with Session.open("trip", store=str(database)) as session:
        assert path(session) == list(range(1, 121))
        assert {text for n in range(1, 121) for text in texts(session, n)} == {
            f"{name}-{n}" for name in ("left", "right") for n in range(60)
        }


def test_a_decision_made_on_an_older_head_is_applied_where_it_still_fits(database: Path) -> None:
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        add_steps(one, 6)
        two.view()
        one.fold(summary="The first two.", first_step=1, last_step=2)
        two.fold(summary="Four and five.", first_step=4, last_step=5)
        assert cover(one) == cover(two) == [(1, 2), (3,), (4, 5), (6,)]


def test_a_decision_that_no_longer_fits_is_refused_with_the_reason(database: Path) -> None:
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        add_steps(one, 6)
        two.view()
        one.fold(summary="The first three.", first_step=1, last_step=3)
        before = settled(one)
        with pytest.raises((StaleDecision, FoldError), match=one_line("s1", "s3")):
            two.fold(summary="Two to four.", first_step=2, last_step=4)
        assert settled(one) == settled(two) == before


def test_one_handle_called_from_two_threads_at_once_loses_nothing(database: Path) -> None:
    """A host may run tool calls side by side: every record stands, each number once."""
    with Session.open("trip", store=str(database)) as session, ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda n: session.record_reply(f"reply {n}").step, range(40)))
        assert sorted(numbers) == list(range(1, 41))
        assert path(session) == list(range(1, 41))


def test_the_same_call_id_in_two_steps_means_each_steps_own_call(session: Session) -> None:
    """The key of a late result is (step, call id): real hosts use ids again."""
    one, two = (add_call(session, "ask", {"n": n}, call="call_0") for n in (1, 2))
    assert session.record_result(one, "call_0", "answer to the first").step == one
    assert session.record_result(two, "call_0", "answer to the second").step == two
    assert texts(session, one)[-1] == "answer to the first"
    assert texts(session, two)[-1] == "answer to the second"


def test_an_idempotency_key_makes_a_repeated_late_result_harmless(stored: Session, database: Path) -> None:
    """The same key twice: one record, the same answer, after a restart too."""
    step = add_call(stored, "slow", call="w")
    add_steps(stored, 2, first=2)
    assert stored.record_result(step, "w", "LATE-ANSWER", key="delivery-1").step == step
    shown, log, kept = settled(stored), len(events(stored)), texts(stored, step)
    assert stored.record_result(step, "w", "LATE-ANSWER", key="delivery-1").step == step
    assert (settled(stored), len(events(stored)), texts(stored, step)) == (shown, log, kept)
    with Session.open("trip", store=str(database)) as again:
        assert again.record_result(step, "w", "LATE-ANSWER", key="delivery-1").step == step
        assert texts(again, step) == kept
    assert stored.record_result(step, "w", "a second part", key="delivery-2").step == step
    assert len(texts(stored, step)) == len(kept) + 1


@pytest.mark.parametrize("again", ["two", "one"])
def test_a_second_handle_in_a_process_leaves_its_locks_alone(database: Path, again: str) -> None:
    """Another process that opens and closes the store in between must not take itself for the last: what is written after stands for everybody at once."""
    with Session.open("one", store=str(database)) as held:
        held.record_turn(user="before")
        Session.open(again, store=str(database)).close()
        other = f"from ctxfold import Session; Session.open('three', store={str(database)!r}).close()"
        subprocess.run([sys.executable, "-c", other], check=True)
        assert database.with_name(f"{database.name}-wal").exists(), "its log was taken away beneath a live handle"
        held.record_reply("after")
        shown = f"from ctxfold import Session; print(Session.open('one', store={str(database)!r}).recall('s1').text)"
        read = subprocess.run([sys.executable, "-c", shown], check=True, capture_output=True, text=True)
    assert "after" in read.stdout
