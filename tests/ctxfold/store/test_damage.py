"""A store of which a row is not what was written: made anew from the log, refused with the next move, or salvaged; never shown as if nothing were."""

from __future__ import annotations

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import CorruptStore, CtxfoldError, InputError, StoreError
from ctxfold.session.transfer import salvage_store
from tests.ctxfold.cli.conftest import Run, run

__all__ = ["run"]

BUDGETS = (600, 8_000, 40_000)


def fill(store: Path) -> None:
    """A session with everything in it that a view is made of, all of it in the database file."""
    with Session.open("trip", goal="Plan three days", store=str(store)) as session:
        for n in range(12):
            session.record_turn(user=f"What about hotel H-{n}, below {200 + n} EUR?")
            calls = [{"name": "look", "args": {"hotel": n}, "id": "c1"}, {"name": "more", "args": {"n": n}, "id": "c2"}]
            answer = f"H-{n} costs {150 + n} EUR. " + f"Room {n} looks at the river. " * 12
            step = session.record_step("Looking.", calls=calls, results=[{"id": "c1", "text": answer}])
            session.record_reply(f"H-{n} costs {150 + n} EUR.")
            session.record_result(step, "c2", f"{n} rooms are free")
        session.fold(first_step=1, last_step=6)
        session.fold("H-4 costs 154 EUR.", first_step=9, last_step=10)
        session.plan(todo=["book H-3"], constraints=["at most 400 EUR"])
        session.branch("create", to="other")
        session.record_turn(user="And elsewhere, for 99 EUR?")
        session.record_reply("No.")
        session.branch("switch", to="main")
    change(store, "PRAGMA wal_checkpoint(TRUNCATE)")


def change(store: Path, script: str) -> None:
    """Run SQL on a store behind our back."""
    connection = sqlite3.connect(store)
    connection.executescript(script)
    connection.close()


def read_all(store: Path) -> list[str]:
    """Views for several budgets, every step recalled, the forest."""
    with Session.open("trip", store=str(store), create=False) as session:
        shown = [session.view(budget).text for budget in BUDGETS]
        return [*shown, *(session.recall(f"s{n}").text for n in range(1, session.tip + 1)), str(session.tree())]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[str]]:
    """The bytes of a store, and what is read of it."""
    store = tmp_path_factory.mktemp("sound") / "store.db"
    fill(store)
    raw = store.read_bytes()
    return raw, read_all(store)


@pytest.fixture
def store(tmp_path: Path, sound: tuple[bytes, list[str]]) -> Path:
    """A store of this test alone."""
    place = tmp_path / "store.db"
    place.write_bytes(sound[0])
    return place


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE session SET budget = 300",
        "UPDATE lane SET fork = fork + 1",
        "UPDATE step SET tokens = tokens + 1 WHERE n = 20",
        "UPDATE step SET parent = 1 WHERE n = 20",
        "DELETE FROM step WHERE n = 20",
        "DELETE FROM step WHERE n = (SELECT max(n) FROM step)",
        "UPDATE record SET origin = 'user' WHERE step = 20 AND k = 1",
        "UPDATE record SET entry = 1 WHERE step = 20 AND k = 1",
        "UPDATE record SET form = form || x'00' WHERE at <> step OR length(form) > 9",
        "DELETE FROM record WHERE step = 20 AND k = 1",
        "DELETE FROM record WHERE kind = 'user' AND step = 1",
        "DELETE FROM record WHERE at <> step",
        "UPDATE head SET name = 'mane' WHERE id = 1",
        "DELETE FROM head WHERE id = 2",
        "UPDATE topic SET name = 'mane'",
        "UPDATE event SET json = replace(json, '400', '500')",
        "DELETE FROM event WHERE kind = 'intent_set'",
        "UPDATE tile SET body = (SELECT max(body) FROM tile)",
        "DELETE FROM tile WHERE id = 2",
        "UPDATE cell SET prev = 0",
        "DELETE FROM cell WHERE id = 2",
        "UPDATE note SET text = x'00'",
        "DELETE FROM note",
    ],
)
def test_a_row_that_was_changed_or_lost_is_refused_with_the_next_move(store: Path, script: str) -> None:
    change(store, script)
    with pytest.raises(CorruptStore) as refused:
        read_all(store)
    assert "restore a copy" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_of_a_damaged_block_of_the_embedded_folder_the_steps_stand_in_full_and_that_is_said(
    store: Path, sound: tuple[bytes, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    change(store, "UPDATE tile SET body = body || x'00' WHERE id = 1")
    with Session.open("trip", store=str(store)) as session:
        shown = session.view(40_000).text
        assert all(f"s{n} " in shown for n in range(1, 7))
        assert "H-0 costs 150 EUR. Room 0 looks at the river. Room 0" in shown
        assert "H-4 costs 154 EUR." in shown
        assert "block b1 of this store is damaged" in caplog.text
        session.fold(first_step=1, last_step=6)
        assert session.view(40_000).text == sound[1][2]
        session.record_turn(user="Go on.")
        session.consolidate(budget=600)


def test_a_form_that_says_to_read_the_log_is_made_anew(store: Path, sound: tuple[bytes, list[str]]) -> None:
    change(store, "UPDATE record SET form = x'ff' WHERE length(form) < 9")
    assert read_all(store) == sound[1]
    assert ctxfold.verify_session("trip", store=str(store))


def test_a_session_whose_name_the_index_has_lost_is_not_begun_anew(store: Path) -> None:
    script = "PRAGMA writable_schema = ON; UPDATE session SET name = 'trap' WHERE name = 'trip'"
    change(store, script)
    with pytest.raises(CorruptStore):
        Session.open("trip", store=str(store))


def count_unseen(
    store: Path, sound: tuple[bytes, list[str]], flips: int, seed: int, told: pytest.LogCaptureFixture
) -> list[tuple[int, int]]:
    """The bits that, turned over, change what is read without a word; one at a time."""
    raw, good = sound
    chance = random.Random(seed)
    unseen: list[tuple[int, int]] = []
    for _ in range(flips):
        at, bit = chance.randrange(len(raw)), chance.randrange(8)
        for beside in store.parent.glob(f"{store.name}-*"):
            beside.unlink()
        store.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :])
        told.clear()
        try:
            same = read_all(store) == good or "stand in full" in told.text
        except CtxfoldError as error:
            same = isinstance(error, StoreError) or "no session" in str(error)
        if not same:
            unseen.append((at, bit))
    return unseen


def test_no_bit_flip_changes_a_view_or_a_recall_unseen(
    store: Path, sound: tuple[bytes, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    assert count_unseen(store, sound, 40, seed=19, told=caplog) == []


@pytest.mark.long
def test_no_bit_flip_of_many_changes_a_view_or_a_recall_unseen(
    store: Path, sound: tuple[bytes, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    assert count_unseen(store, sound, 1_000, seed=20, told=caplog) == []


def test_a_sound_store_is_salvaged_whole(store: Path, sound: tuple[bytes, list[str]], tmp_path: Path) -> None:
    (found,) = salvage_store(str(tmp_path / "new.db"), str(store))
    assert (found.name, found.whole, found.missing) == ("trip", True, ())
    assert read_all(tmp_path / "new.db") == sound[1]
    assert store.read_bytes() == sound[0]


_BACK_TO_7 = "".join(
    f"ALTER TABLE {table} DROP COLUMN {column};"
    for table, columns in {
        "session": "heads plans sum", "lane": "sum", "step": "held late words noted sum", "record": "form_sum sum", "head": "sum",
        "topic": "sum", "event": "sum", "tile": "body_sum sum", "cell": "sum", "note": "sum",
    }.items()
    for column in columns.split()
)  # fmt: skip


@pytest.mark.parametrize("damage", ["", "UPDATE entry SET bytes = x'00' WHERE id = 9;"], ids=["sound", "damaged"])
def test_a_store_of_a_version_without_checksums_is_salvaged_before_any_command_upgraded_it(
    store: Path, sound: tuple[bytes, list[str]], tmp_path: Path, damage: str
) -> None:
    change(store, f"{_BACK_TO_7} PRAGMA user_version = 7; {damage}")
    old, new = store.read_bytes(), tmp_path / "new.db"
    (found,) = salvage_store(str(new), str(store))
    assert found.whole is not bool(damage)
    if damage:
        assert len(found.missing) == 1
        assert found.records > 80
    else:
        assert read_all(new) == sound[1]
    assert store.read_bytes() == old


def test_of_a_damaged_store_every_record_that_reads_is_salvaged_under_its_address_and_the_rest_listed(
    store: Path, tmp_path: Path, run: Run
) -> None:
    change(
        store,
        "UPDATE entry SET bytes = x'00' WHERE id = (SELECT entry FROM record WHERE step = 3 AND k = 3);"
        "UPDATE record SET origin = 'page' WHERE step = 5 AND k = 1; DELETE FROM record WHERE step = 8; UPDATE head SET seq = 1;",
    )
    new = tmp_path / "new.db"
    ran = run("doctor", "--salvage", str(new), "--store", str(store))
    assert ran.code == 1
    assert "its log alone" in ran.out
    assert "lost: s3.3, s5.1, s8" in ran.out
    with Session.open("trip", store=str(new), create=False) as session:
        assert session.goal == "Plan three days"
        assert session.recall("s1.1").text == "What about hotel H-0, below 200 EUR?"
        assert session.recall("s3.6").text == "1 rooms are free"
        assert "lost" in session.recall("s3.3").text
        assert session.recall("s24.1").text == "H-11 costs 161 EUR."
        assert session.recall(query="elsewhere 99 EUR")
        assert session.record_reply("On we go.").step == session.tip
    assert ctxfold.verify_session("trip", store=str(new))
    assert run("doctor", "--salvage", str(new), "--store", str(store)).code == 2


@pytest.mark.parametrize("part", [0.35, 0.7, 0.95])
def test_a_store_that_was_cut_short_or_has_a_torn_page_gives_what_is_left(
    store: Path, tmp_path: Path, part: float
) -> None:
    raw = store.read_bytes()
    torn = int(len(raw) * part) // 4096 * 4096
    for name, kept in (("short", raw[:torn]), ("torn", raw[:torn] + bytes(4096) + raw[torn + 4096 :])):
        store.write_bytes(kept)
        new = tmp_path / f"{name}.db"
        with suppress(InputError):  # nothing of it reads
            (found,) = salvage_store(str(new), str(store))
            assert ctxfold.verify_session(found.name, store=str(new)) >= found.records / 6
            assert store.read_bytes() == kept
