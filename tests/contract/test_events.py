"""The data model's values: events that hold what was resolved, replay to the same bytes, export and import, the size of the file."""

from collections.abc import Callable
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import CtxfoldError, ImportFault, InputError, RefError
from tests.support.sessions import (
    WIDE,
    add_call,
    add_json,
    add_result,
    add_step,
    add_steps,
    copy_session,
    cover,
    database_bytes,
    decisions,
    events,
    one_line,
    prose,
    settled,
    texts,
)


def rich(store: Path) -> None:
    """A session with a bit of everything in it."""
    with Session.open("trip", goal="Plan three days in Lisbon", store=str(store)) as session:
        session.record_turn(user="Find\r\nrooms \x00 with a view")
        add_steps(session, 6)
        add_json(session, {"id": "BK-1", "price": 129.5, "tags": ["é", None, True]})
        session.fold(summary="Two pages.", first_step=2, last_step=3)
        session.fold(first_step=4, last_step=5)
        slow = add_call(session, "slow", said="Ask.")
        session.branch("create", at=5, to="other")
        add_json(session, {"id": "BK-1", "price": 99.5, "tags": ["é", None, True]})
        session.record_note("Bring coins.", origin="user")
        session.undo()
        session.record_result(slow, "c1", "LATE-ANSWER", key="k1")
        session.fold(first_step=6, last_step=6)
        session.undo()
        session.redo()
        session.branch("new_topic", to="food")
        session.record_turn(user="And dinner?")
        add_steps(session, 20, first=30)
        session.consolidate(2_000)
        session.branch("switch", to="other")


def reading(store: Path) -> object:
    """All that the public surface tells about a session: each branch's cover and views, each record, the history."""
    with Session.open("trip", store=str(store)) as session:
        told: list[object] = [session.goal, session.branch_name, session.tip, [repr(topic) for topic in session.tree()]]
        for branch in sorted({branch.name for topic in session.tree() for branch in topic.branches}):
            session.branch("switch", to=branch)
            told += [branch, cover(session), settled(session), session.view(600).text, session.tip]
        top = max(step for step in range(1, 60) if readable(session, step))
        told += [texts(session, step) for step in range(1, top + 1)]
        told += [[(hit.ref, hit.text, hit.step) for hit in session.recall(query="coins dinner rooms", limit=20)]]
        return told


def readable(session: Session, step: int) -> bool:
    """Whether there is such a step."""
    try:
        session.recall(f"s{step}")
    except InputError:
        return False
    return True


def test_an_export_imported_elsewhere_is_the_same_session(database: Path, tmp_path: Path) -> None:
    rich(database)
    copy = copy_session(database, tmp_path)
    assert history(database) == history(copy)
    assert reading(database) == reading(copy)


def history(store: Path) -> list[tuple[object, ...]]:
    """The events of the session, without what a switch of this test would add."""
    with Session.open("trip", store=str(store)) as session:
        return [
            (event.seq, event.kind, event.decider, event.cause, event.branch, tuple(event.steps), event.time)
            for event in events(session)
        ]


def test_an_imported_session_goes_on(database: Path, tmp_path: Path) -> None:
    rich(database)
    numbers, views = [], []
    for store in (copy_session(database, tmp_path), database):
        with Session.open("trip", store=str(store)) as session:
            numbers.append([add_step(session, 60), session.record_turn(user="More").step, add_step(session, 61)])
            session.fold()
            session.undo()
            session.undo()
            views.append((settled(session), cover(session)))
    assert numbers[0] == numbers[1]
    assert views[0] == views[1]


@pytest.mark.parametrize(
    "what", [b"", b"Dear reader,\nthis is a letter.\n", b'{"hello": "world"}\n[1, 2]\n', bytes(range(256)) * 20, None]
)
def test_a_file_that_is_not_an_export_is_refused_and_leaves_nothing(tmp_path: Path, what: bytes | None) -> None:
    bad = tmp_path / "bad.jsonl"
    if what is not None:
        bad.write_bytes(what)
    with pytest.raises(ImportFault, match=one_line()):
        ctxfold.import_session(bad, store=str(tmp_path / "two.db"))
    assert ctxfold.sessions(str(tmp_path / "two.db")) == []


def test_history_is_in_order_limited_and_typed(session: Session) -> None:
    add_steps(session, 3)
    session.fold(summary="Two pages.", first_step=1, last_step=2)
    session.branch("create", at=2, to="other")
    log = events(session)
    assert [event.seq for event in log] == sorted({event.seq for event in log})
    assert all(event.kind and event.decider and event.time for event in log)
    assert len(session.history(limit=2)) == 2
    assert {event.seq for event in session.history(limit=2)} == {event.seq for event in log[-2:]}
    made = decisions(session)
    assert len(made) == 2
    assert "fold" in made[0].kind.lower()
    assert tuple(made[0].steps) == (1, 2)


def test_each_decision_is_one_event_and_a_refused_one_is_none(session: Session) -> None:
    add_steps(session, 5)
    attempts: list[Callable[[], object]] = [
        lambda: session.fold(first_step=1, last_step=2),
        session.fold,
        session.undo,
        session.redo,
        lambda: session.branch("create", to="other"),
        lambda: session.branch("new_topic"),
    ]
    for made, attempt in enumerate(attempts, start=1):
        attempt()
        assert len(decisions(session)) == made
    with pytest.raises(CtxfoldError):
        session.fold(first_step=1, last_step=99)
    assert len(decisions(session)) == 6


@pytest.mark.parametrize(("size", "bar"), [(2_200, 2.0), (200, 4.0)])
def test_the_file_stays_within_its_bar_of_the_raw_log(database: Path, size: int, bar: float) -> None:
    with Session.open("trip", store=str(database)) as session:
        session.record_reply("first")
    empty = len(database_bytes(database))
    raw = 0
    with Session.open("trip", store=str(database)) as session:
        for n in range(400):
            text = prose(n, words=size // 6)[:size]
            raw += len(text.encode())
            session.record_turn(user=text).step if n % 2 else session.record_reply(text).step
    grown = len(database_bytes(database)) - empty
    assert grown <= bar * raw, f"{grown / raw:.2f} times the raw log"


def test_entries_of_the_same_bytes_are_kept_once(database: Path) -> None:
    page = prose(7, words=4_000)
    with Session.open("trip", store=str(database)) as session:
        add_result(session, page)
    once = len(database_bytes(database))
    with Session.open("trip", store=str(database)) as session:
        for _ in range(30):
            add_result(session, page)
    assert len(database_bytes(database)) - once < 6 * len(page)


def test_the_folds_of_a_long_session_do_not_copy_it(database: Path) -> None:
    with Session.open("trip", store=str(database)) as session:
        add_steps(session, 200, words=64)
    before = len(database_bytes(database))
    with Session.open("trip", store=str(database)) as session:
        for n in range(1, 101):
            session.fold(summary=f"Folded page {n}.", first_step=n, last_step=n)
    grown = len(database_bytes(database)) - before
    assert grown < 100 * 6_000, f"{grown // 100} bytes a fold"
    with Session.open("trip", store=str(database)) as session:
        assert session.view(WIDE).tokens > 0


def test_every_version_reads_as_it_did_whatever_came_later(session: Session) -> None:
    add_call(session, "slow")
    add_steps(session, 3, first=2)
    changes: list[Callable[[], object]] = [
        lambda: session.plan(todo=["book a room"], constraints=["no flights"]),
        lambda: session.fold("Two pages.", 2, 3),
        lambda: session.record_result(1, "c1", "LATE-ANSWER " * 40),
        lambda: session.extract(selections=[{"ref": "s4.3:1-1"}]),
        lambda: session.branch("create", at=3, to="other"),
        lambda: session.plan(todo=["only here"], constraints=["no hostels"]),
        lambda: session.branch("rename", to="second"),
        session.undo,
        lambda: session.branch("switch", to="main"),
        lambda: session.refactor("cognitive_boosting", "Ask for the price first."),
        lambda: session.consolidate(600),
    ]
    kept: dict[int, tuple[str, object]] = {}
    for change in changes:
        change()
        shown = session.view(2_000)
        kept[session.history(1)[0].seq] = shown.text, shown.as_anthropic()
    assert len({text for text, _ in kept.values()}) > 6
    for seq, (text, native) in kept.items():
        shown = session.view(2_000, at=seq)
        assert (shown.text, shown.as_anthropic()) == (text, native), seq
        assert session.view(2_000, at=f"v{seq}", fill=True).tokens <= 2_000


def test_an_older_version_has_no_text_that_was_redacted_since(session: Session) -> None:
    session.record_turn("The code is 4417-AB.")
    session.record_reply("Noted.")
    session.redact("4417-AB")
    shown = session.view(at=2).text
    assert "4417" not in shown
    assert "The code is *******." in shown
    assert "Noted." not in shown


@pytest.mark.parametrize("at", [0, 99, -1, "v0", "v99", "12.5", "s1", "", "v" + "9" * 40])
def test_a_version_that_is_not_there_is_refused_naming_the_log(session: Session, at: int | str) -> None:
    add_steps(session, 2)
    for ask in (lambda: session.view(at=at), lambda: session.restore(at)):
        with pytest.raises(RefError, match=one_line("ctxfold log", "v3")):
            ask()
