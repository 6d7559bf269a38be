"""A store that an earlier version wrote: opened, it is brought up to this one, and nothing of it reads differently."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import UnknownSession

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

_BACK_TO_4 = """
    ALTER TABLE fact RENAME TO fact_5;
    CREATE TABLE fact (session INTEGER NOT NULL, key INTEGER NOT NULL, lane INTEGER NOT NULL, depth INTEGER NOT NULL, record INTEGER NOT NULL,
      PRIMARY KEY (session, key, lane, depth, record)) WITHOUT ROWID;
    INSERT INTO fact SELECT session, key, lane, depth, record FROM fact_5;
    DROP TABLE fact_5;
    PRAGMA user_version = 4;
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


def test_facts_of_a_store_of_version_4_are_found_after_the_upgrade(tmp_path: Path) -> None:
    """What is recorded afterwards points at the same records as in a store that was never older."""
    now, then = tmp_path / "now.db", tmp_path / "then.db"
    with Session.open("trip", store=str(now)) as session:
        for n in range(50):
            looked_up(session, n)
    shutil.copy(now, then)
    connection = sqlite3.connect(then)
    connection.executescript(_BACK_TO_4)
    connection.close()
    with Session.open("trip", store=str(now)) as session, Session.open("trip", store=str(then)) as older:
        for n in range(50, 70):
            assert looked_up(session, n) == looked_up(older, n)
        assert older.view().text == session.view().text
    assert facts(then) == facts(now) != []


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_a_store_that_has_what_an_upgrade_brings_opens_whatever_version_it_says(tmp_path: Path, version: int) -> None:
    """A copy put together from two files, or a build between two versions, leaves such a store."""
    store = tmp_path / "now.db"
    with Session.open("trip", store=str(store)) as session:
        for n in range(20):
            looked_up(session, n)
        before = session.view().text
    kept = facts(store)
    connection = sqlite3.connect(store)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    for _ in range(2):
        with Session.open("trip", store=str(store)) as session:
            assert session.view().text == before
    assert facts(store) == kept != []


def test_sessions_of_a_store_of_version_5_are_kept_and_their_numbers_not_given_again(tmp_path: Path) -> None:
    """Name, number, time, branch and budget stay; a session begun after another was deleted is no handle's by mistake."""
    store = tmp_path / "then.db"
    for name in ("trip", "stay", "last"):
        with Session.open(name, goal=name, store=str(store)) as session:
            looked_up(session, 1)
            session.set_budget(3_000)
            session.branch("create", to="other")
    connection = sqlite3.connect(store)
    connection.executescript(_BACK_TO_5)
    connection.close()
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


def rows(store: Path) -> list[tuple[object, ...]]:
    """The sessions as they are kept."""
    connection = sqlite3.connect(store)
    found = connection.execute("SELECT id, name, created, current, budget FROM session ORDER BY id").fetchall()
    connection.close()
    return found


def facts(store: Path) -> list[tuple[int, ...]]:
    """The ledger's rows as they are kept."""
    connection = sqlite3.connect(store)
    rows = connection.execute("SELECT * FROM fact ORDER BY 1, 2, 3, 4, 5, 6").fetchall()
    connection.close()
    return rows
