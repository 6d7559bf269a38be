"""Replay is a check: whatever led to a revision, changed behind our back, is found by replaying the events."""

import sqlite3
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import CorruptStore
from tests.support.sessions import add_steps, one_line


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE tile SET body = zeroblob(40)",
        "UPDATE event SET cover = 0 WHERE kind = 'folded'",
        "UPDATE event SET tip = 2 WHERE seq = 5",
        "UPDATE event SET kind = 'recorded' WHERE kind = 'folded'",
        "DELETE FROM event WHERE seq = 5",
        "UPDATE event SET revision = x'00112233445566778899aabbccddeeff' WHERE seq = 3",
    ],
)
def test_an_event_changed_behind_our_back_is_found_by_a_replay(database: Path, change: str) -> None:
    with Session.open("trip", goal="Goal", store=str(database)) as session:
        add_steps(session, 4)
        session.fold(summary="Two pages.", first_step=1, last_step=2)
    connection = sqlite3.connect(database)
    with connection:
        assert connection.execute(change).rowcount == 1
    connection.close()
    with pytest.raises(CorruptStore, match=one_line()):
        ctxfold.verify_session("trip", store=str(database))
