"""What every store must do, whatever its database: one suite over the port. A new adapter is one more parameter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ctxfold.errors import CorruptStore, StoreError
from ctxfold.log import Record, Step
from ctxfold.store import open_store
from ctxfold.store.codec import pack_json
from ctxfold.store.rows import Writing
from ctxfold.store.sqlite import Store
from ctxfold.store.tables import KEYS, EventRow, HeadRow, State, TopicRow

NOW = 1_700_000_000.5
GENESIS = State(0, b"\0" * 16, 0, 0, 0, 0, 0)


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_store(":memory:" if request.param == "memory" else str(tmp_path / "store.db")) as opened:
        yield opened


def step(n: int, parent: int, lane: int, depth: int) -> Step:
    return Step(n, parent, lane, depth, False, 10, 10, 10 * depth, 10 * depth, NOW)


def add(tx: Writing, session: int, n: int, k: int, kind: str, text: str, at: int = 0, key: str | None = None) -> None:
    record = Record(n, k, kind, "user", text, None, at)  # type: ignore[arg-type]
    tx.log.add_record(session, record, tx.log.add_entry(text), None, pack_json([]), key)


def event(seq: int, kind: str, prev: int) -> EventRow:
    state = replace(GENESIS, seq=seq, revision=bytes([seq]) * 16, tip=1)
    return EventRow(seq, 1, prev, kind, "host", "a cause \ud800", '{"was":0}', NOW + seq, state)


def fill(tx: Writing, name: str) -> int:
    """A session with a row of every kind: s1 s2 s3 on one lane, s4 s5 on another that leaves s2; s1 has words, s3 a note."""
    session = tx.sessions.add(name, NOW).id
    tx.forest.add_topic(session, TopicRow(1, "main"))
    tx.forest.add_head(session, HeadRow(1, "main", 1, 3, NOW))
    first = tx.log.add_lane(session, 0, 0)
    second = tx.log.add_lane(session, first, 2)
    for made, kind, text in (
        (step(1, 0, first, 1), "user", f"the harbor at night {name}"),
        (step(2, 1, first, 2), "call", "look"),
        (step(3, 2, first, 3), "note", "港の夜は静かだ"),
        (step(4, 2, second, 3), "", ""),
        (step(5, 4, second, 4), "", ""),
    ):
        if kind:
            add(tx, session, made.n, 1, kind, text)
        tx.log.write_step(session, made)
    add(tx, session, 2, 2, "result", "late words", at=4, key="once")
    cell = tx.cover.add_cell(session, 0, 1)
    tx.cover.add_tile(session, 1, 1, 2, 20, pack_json({"id": 1}))
    tx.cover.add_note(session, 0, "goal", "See the harbor \ud83d")
    for at, kind in enumerate(("recorded", "intent_set", "redacted"), 1):
        tx.forest.add_event(session, event(at, kind, at - 1))
    assert cell == 1
    return session


def test_what_is_committed_stays_and_what_failed_is_undone(store: Store) -> None:
    with store.writing() as tx:
        fill(tx, "trip")

    def fail() -> None:
        with store.writing() as tx:
            tx.sessions.add("other", NOW)
            tx.sessions.add("trip", NOW)

    with pytest.raises(CorruptStore):
        fail()
    with store.reading() as after:
        assert after.sessions.names() == ["trip"]


def test_rows_come_back_as_they_were_put(store: Store) -> None:
    with store.writing() as tx:
        session = fill(tx, "trip")
        tx.forest.change_head(session, 1, "name", "quay")
        tx.forest.change_head(session, 1, "seq", 2)
        tx.sessions.change(session, "current", 1)
        tx.sessions.change(session, "budget", 3_000)
    with store.reading() as tx:
        row = tx.sessions.named("trip")
        assert row is not None
        assert (row.id, row.created, row.updated, row.current, tx.sessions.budget(row.id)) == (
            session,
            NOW,
            NOW + 3,
            1,
            3_000,
        )
        assert tx.forest.heads(session) == [HeadRow(1, "quay", 1, 2, NOW)]
        assert tx.forest.topics(session) == [TopicRow(1, "main")]
        assert tx.forest.event(session, 2) == event(2, "intent_set", 1)
        assert [each.seq for each in tx.forest.events(session, limit=2, newest=True)] == [3, 2]
        assert tx.cover.notes(session, 1) == [("goal", "See the harbor \ud83d")]
        assert tx.cover.tile_end(session, 1) == 2
        assert tx.sessions.named("nowhere") is None
        assert tx.sessions.newest(session + 1) is None


def test_events_are_found_by_their_kind(store: Store) -> None:
    with store.writing() as tx:
        session = fill(tx, "trip")
        assert tx.sessions.newest(session) == (3, 3)
        assert tx.forest.newest_intent(session) == 2
        assert [each.kind for each in tx.forest.intents(session)] == ["intent_set"]


def test_a_path_crosses_lanes_and_finds_the_nearest_words(store: Store) -> None:
    with store.writing() as tx:
        session = fill(tx, "trip")
        path = tx.log.path(session, 5)
        assert path == ((2, 4), (1, 2))
        assert [each.n for each in tx.log.along(session, path, 1, 4)] == [1, 2, 4, 5]
        assert tx.log.steps_with(session, "user", path, 4, 9) == [1]
        assert tx.log.steps_with(session, "note", path, 4, 9) == []
        assert tx.log.steps_with(session, "note", tx.log.path(session, 3), 3, 9) == [3]
        assert tx.log.place_taken(session, 1, 3)
        assert not tx.log.place_taken(session, 1, 4)


def test_records_are_listed_by_their_step_and_by_where_they_came_late(store: Store) -> None:
    with store.writing() as tx:
        session = fill(tx, "trip")
        assert [(each.step, each.k) for each in tx.log.records(session, range(1, 1_500))] == [
            (1, 1),
            (2, 1),
            (2, 2),
            (3, 1),
        ]
        assert [(each.step, each.k) for each in tx.log.records(session, [4], late=True)] == [(2, 2)]
        assert [each.k for each in tx.log.entries_of(session, [f"n{n}" for n in range(1_200)] + ["once"])] == [2]
        assert [tx.log.text(each.entry) for each in tx.log.longer(session, 20)] == [
            "港の夜は静かだ",
            "the harbor at night trip",
        ]


def test_words_are_found_in_their_session_alone(store: Store) -> None:
    with store.writing() as tx:
        one, two = fill(tx, "one"), fill(tx, "two")
        ((record, score),) = tx.search.ranked(one, "Harbors", 5)
        found = tx.log.record_by_id(record)
        assert found is not None
        assert (tx.log.text(found.entry), score > 0) == ("the harbor at night one", True)
        assert len(tx.search.ranked(two, "夜は静", 5)) == len(tx.search.holding(two, "at night", 5)) == 1
        assert tx.search.holding(two, "night absent", 5) == []
        assert tx.search.ranked(two, "?!", 5) == []


def test_one_text_is_kept_once_and_read_under_its_hash(store: Store) -> None:
    with store.writing() as tx:
        text = "the same \ud800 words " * 40
        assert tx.log.add_entry(text) == tx.log.add_entry(text)
        assert tx.log.text(tx.log.add_entry(text)) == text
        assert tx.log.entry_hash(tx.log.add_entry("a")) != tx.log.entry_hash(tx.log.add_entry("b"))


def test_a_session_that_is_read_by_rows_and_written_anew_is_the_same(store: Store) -> None:
    def read(tx: Writing, session: int) -> dict[str, list[dict[str, object]]]:
        numbers = {table: range(1, tx.last_row(table, session) + 1) for table in KEYS}
        return {table: [row for n in numbers[table] for row in tx.read_rows(table, session, n)] for table in KEYS}

    with store.writing() as tx:
        session = fill(tx, "trip")
        before = read(tx, session)
        tx.clear(session)
        assert not any(read(tx, session).values())
        for table, rows in before.items():
            for row in sorted(rows, key=lambda row: int(str(row.get("id", 0)))):
                tx.write_row(table, session, {name: row[name] for name in row if table != "record" or name != "id"})
        after = read(tx, session)
        for row in before["record"] + after["record"]:
            del row["id"]
        assert after == before
        with pytest.raises(ValueError, match="columns"):
            tx.write_row("topic", session, {"id": 2, "name": "x", "more": 1})


def test_a_dropped_session_leaves_nothing_but_what_others_hold(store: Store) -> None:
    with store.writing() as tx:
        gone, kept = fill(tx, "gone"), fill(tx, "kept")
        tx.drop(gone)
    with store.writing() as tx:
        assert tx.sessions.names() == ["kept"]
        assert tx.is_scrub_due()
    store.scrub()
    with store.writing() as tx:
        assert not tx.is_scrub_due()
        assert [tx.last_row(table, gone) for table in KEYS] == [0] * len(KEYS)
        assert tx.search.ranked(gone, "harbor", 5) == []
        assert len(tx.search.ranked(kept, "harbor", 5)) == 1
        assert tx.log.text(tx.log.records(kept, [2])[0].entry) == "look"
        assert fill(tx, "new") not in (gone, kept)


@pytest.mark.parametrize(
    "damage",
    [
        lambda tx, session: tx.cover.cell(session, 9),
        lambda tx, session: tx.cover.notes(session, 9),
        lambda tx, session: tx.log.path(session, 9),
        lambda tx, session: tx.log.along(session, ((1, 9),), 1, 9),
        lambda tx, session: tx.log.steps(session, [1, 9]),
        lambda tx, session: tx.log.text(99),
        lambda tx, session: tx.log.entry_hash(99),
        lambda tx, session: tx.read_rows("tile", session, 9),
        lambda tx, session: tx.forest.add_head(session, HeadRow(1, "again", 1, 0, NOW)),
    ],
)  # fmt: skip
def test_a_row_that_is_missing_or_there_already_is_an_error_of_the_store(store: Store, damage: object) -> None:
    with store.writing() as tx:
        session = fill(tx, "trip")
        with pytest.raises(CorruptStore) as refused:
            damage(tx, session)  # type: ignore[operator]
        assert "\n" not in str(refused.value)


def test_a_closed_store_says_so(store: Store) -> None:
    store.check()
    store.close()
    with pytest.raises(StoreError, match="closed"), store.reading():
        pass
