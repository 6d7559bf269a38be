"""A store that an earlier version wrote: opened, it is brought up to this one, and nothing of it reads differently."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import UnknownSession

OLD = Path(__file__).with_name("version_0_1.jsonl")
"""A session that version 0.1 wrote and exported: a host's tile, one of the embedded folder, steps in full."""

_FACTS_6 = """
    CREATE TABLE fact (
      session INTEGER NOT NULL, era INTEGER NOT NULL, key INTEGER NOT NULL, lane INTEGER NOT NULL, depth INTEGER NOT NULL, record INTEGER NOT NULL,
      PRIMARY KEY (session, era, key, lane, depth, record)
    ) WITHOUT ROWID;
    INSERT INTO fact VALUES (1, 0, 4711, 0, 1, 3);
    PRAGMA user_version = 6;
"""

_FACTS_4 = """
    CREATE TABLE fact (session INTEGER NOT NULL, key INTEGER NOT NULL, lane INTEGER NOT NULL, depth INTEGER NOT NULL, record INTEGER NOT NULL,
      PRIMARY KEY (session, key, lane, depth, record)) WITHOUT ROWID;
    INSERT INTO fact VALUES (1, 4711, 0, 1, 3);
"""

_BACK_TO_5 = """
    CREATE TABLE older (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created REAL NOT NULL, current INTEGER NOT NULL DEFAULT 0, budget INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO older SELECT id, name, created, current, budget FROM session;
    DROP TABLE session;
    ALTER TABLE older RENAME TO session;
    DROP TABLE unscrubbed;
    DROP INDEX event_redacted;
    PRAGMA user_version = 5;
"""


def looked_up(session: Session, n: int) -> int:
    """A step that finds what an earlier one found, a price changed."""
    hotel = {
        "id": "H-7",
        "name": "Casa do Rio",
        "price": 80 + n // 20,
        "rooms": ["single", "double", "suite"],
        "n": n % 3,
    }
    return session.record_step(
        calls=[{"name": "look_up", "args": {"hotel": "H-7"}, "id": "c"}],
        results=[{"id": "c", "text": json.dumps(hotel)}],
    ).step


@pytest.mark.parametrize("back", [_FACTS_6, _BACK_TO_5 + _FACTS_4 + "PRAGMA user_version = 4;"], ids=["6", "4"])
def test_a_store_with_keys_of_facts_loses_them_and_nothing_else(tmp_path: Path, back: str) -> None:
    """The table is gone after the upgrade; what a session said, and what is found in it, stays."""
    store = tmp_path / "then.db"
    with Session.open("trip", store=str(store)) as session:
        for n in range(20):
            looked_up(session, n)
        shown, found = session.view().text, session.recall(query="Casa do Rio")
    run(store, back)
    with Session.open("trip", store=str(store)) as session:
        assert session.view().text == shown
        assert session.recall(query="Casa do Rio") == found != []
        looked_up(session, 20)
    assert "fact" not in tables(store)
    assert ctxfold.verify_session("trip", store=str(store)) == 21


def test_a_session_of_version_0_1_replays_and_goes_on(tmp_path: Path) -> None:
    """Its lines and tiles keep the form they were written in: hashes are taken over what is stored."""
    store = str(tmp_path / "then.db")
    ctxfold.import_session(OLD, store=store)
    run(Path(store), _FACTS_6)
    events = ctxfold.verify_session("trip", store=store)
    with Session.open("trip", store=store) as session:
        shown = session.view(20_000).text
        assert "s1-s5 < Looked at H-7 in rounds: the price was 80." in shown
        assert "s13 ai: The price of H-7 is 84 now." in shown
        assert '"name": "Casa do Rio", "price": 80' in session.recall("s4.3").text
        looked_up(session, 20)
        assert ctxfold.verify_session("trip", store=store) == events + 1
        session.fold("H-7 cost 81 to 82.", "s6", "s12")
        assert ctxfold.verify_session("trip", store=store) == events + 2


def test_a_session_of_version_0_1_can_be_redacted_and_exported(tmp_path: Path) -> None:
    """What its tiles hold is masked like any other text, and the chain of revisions holds afterwards."""
    store, other = str(tmp_path / "then.db"), str(tmp_path / "now.db")
    ctxfold.import_session(OLD, store=store)
    with Session.open("trip", store=store) as session:
        assert "QX-4471" in session.view(20_000).text
        session.redact("QX-4471")
        shown = session.view(20_000).text
    assert "QX-4471" not in shown
    assert ctxfold.verify_session("trip", store=store) > 0
    ctxfold.export_session("trip", tmp_path / "trip.jsonl", store=store)
    ctxfold.import_session(tmp_path / "trip.jsonl", store=other)
    with Session.open("trip", store=other) as session:
        assert session.view(20_000).text == shown


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_a_store_that_has_what_an_upgrade_brings_opens_whatever_version_it_says(tmp_path: Path, version: int) -> None:
    """A copy put together from two files, or a build between two versions, leaves such a store."""
    store = tmp_path / "now.db"
    with Session.open("trip", store=str(store)) as session:
        for n in range(20):
            looked_up(session, n)
        before = session.view().text
    run(store, f"PRAGMA user_version = {version}")
    for _ in range(2):
        with Session.open("trip", store=str(store)) as session:
            assert session.view().text == before


def test_sessions_of_a_store_of_version_5_are_kept_and_their_numbers_not_given_again(tmp_path: Path) -> None:
    """Name, number, time, branch and budget stay; a session begun after another was deleted is no handle's by mistake."""
    store = tmp_path / "then.db"
    for name in ("trip", "stay", "last"):
        with Session.open(name, goal=name, store=str(store)) as session:
            looked_up(session, 1)
            session.set_budget(3_000)
            session.branch("create", to="other")
    run(store, _BACK_TO_5)
    kept = rows(store)
    with Session.open("last", store=str(store)) as handle:
        assert rows(store) == kept
        assert (handle.goal, handle.branch_name, handle.budget) == ("last", "other", 3_000)
        ctxfold.delete_session("last", store=str(store))
        with Session.open("new", store=str(store)) as new:
            looked_up(new, 2)
            with pytest.raises(UnknownSession):
                handle.recall("s1")
    with Session.open("stay", store=str(store)) as session:
        assert session.recall("s1").text.count("Casa do Rio") == 1


def run(store: Path, script: str) -> None:
    """Run SQL on a store that nobody has open."""
    connection = sqlite3.connect(store)
    connection.executescript(script)
    connection.close()


def rows(store: Path) -> list[tuple[object, ...]]:
    """The sessions as they are kept."""
    connection = sqlite3.connect(store)
    found = connection.execute("SELECT id, name, created, current, budget FROM session ORDER BY id").fetchall()
    connection.close()
    return found


def tables(store: Path) -> set[str]:
    """The names of a store's tables."""
    connection = sqlite3.connect(store)
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return found
