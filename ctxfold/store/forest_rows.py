"""The SQLite rows of branches, topics and events."""

from __future__ import annotations

import sqlite3
from typing import Any

from ctxfold.store.codec import column, damaged, from_column, holds, intact, put, reseal
from ctxfold.store.values import EventRow, HeadRow, State, TopicRow

__all__ = ["ForestRows"]

_EVENT = (
    "seq, head, prev, kind, decider, cause, json, time, revision, tip, cover, notes, decision, undone, intent, guide"
)
_CHECKED = f"{_EVENT}, {holds('event')}"
_PLANS = "INDEXED BY event_intent WHERE session = ? AND kind IN ('intent_set', 'voided')"
"""The planner would walk every event of a session instead: it takes the key for the nearer way to the newest."""


class ForestRows:
    """Branches, topics and events."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def heads(self, session: int) -> list[HeadRow]:
        """The branches of a session, oldest first."""
        rows = self._run(
            f"SELECT id, name, topic, seq, created, {holds('head')} FROM head WHERE session = ? ORDER BY id", (session,)
        )
        found = [HeadRow(*row) for row in intact(rows, "a branch")]
        if len(found) != self._counted(session, "heads"):
            raise damaged("the list of branches")
        return found

    def add_head(self, session: int, head: HeadRow) -> None:
        """A new branch."""
        self._run(put("head"), (session, head.id, head.name, head.topic, head.seq, float(head.created)))
        self._run("UPDATE session SET heads = heads + 1 WHERE id = ?", (session,))
        self._run(f"{reseal('session')} WHERE id = ?", (session,))

    def move_head(self, session: int, head: int, seq: int) -> None:
        """Let a branch stand at an event."""
        self._change("head", "seq", session, head, seq)

    def rename_head(self, session: int, head: int, name: str) -> None:
        """Give a branch another name."""
        self._change("head", "name", session, head, name)

    def topics(self, session: int) -> list[TopicRow]:
        """The topics of a session, oldest first."""
        rows = self._run(f"SELECT id, name, {holds('topic')} FROM topic WHERE session = ? ORDER BY id", (session,))
        return [TopicRow(*row) for row in intact(rows, "a topic")]

    def add_topic(self, session: int, topic: TopicRow) -> None:
        """A new topic."""
        self._run(put("topic"), (session, topic.id, topic.name))

    def rename_topic(self, session: int, topic: int, name: str) -> None:
        """Give a topic another name."""
        self._change("topic", "name", session, topic, name)

    def _change(self, table: str, column: str, session: int, number: int, value: object) -> None:
        """Change a row that is what was written; of one that is not, the checksum goes on saying so."""
        which = (session, number)
        (whole,) = self._run(f"SELECT {holds(table)} FROM {table} WHERE session = ? AND id = ?", which).fetchone()
        if not whole:
            raise damaged(f"a {table}")
        self._run(f"UPDATE {table} SET {column} = ? WHERE session = ? AND id = ?", (value, *which))
        self._run(f"{reseal(table)} WHERE session = ? AND id = ?", which)

    def _counted(self, session: int, column: str) -> int:
        row = self._run(f"SELECT {column}, {holds('session')} FROM session WHERE id = ?", (session,)).fetchone()
        ((number,),) = intact([] if row is None else [row], "a session") or ((0,),)
        return int(number)

    def event(self, session: int, seq: int) -> EventRow | None:
        """One event."""
        row = self._run(f"SELECT {_CHECKED} FROM event WHERE session = ? AND seq = ?", (session, seq)).fetchall()
        return next(map(_event, intact(row, f"event {seq}")), None)

    def events(self, session: int, limit: int | None = None, newest: bool = False) -> list[EventRow]:
        """Events in order of their number, or the newest first."""
        order = "DESC" if newest else "ASC"
        found = self._run(
            f"SELECT {_CHECKED} FROM event WHERE session = ? ORDER BY seq {order} LIMIT ?",
            (session, -1 if limit is None else limit),
        )
        return [_event(row) for row in intact(found, "an event")]

    def intents(self, session: int) -> list[EventRow]:
        """Every plan of a session, and every undo and redo, in order."""
        rows = intact(self._run(f"SELECT {_CHECKED} FROM event {_PLANS} ORDER BY seq", (session,)), "a plan")
        if len(rows) != self._counted(session, "plans"):
            raise damaged("the list of plans")
        return [_event(row) for row in rows]

    def newest_intent(self, session: int) -> int:
        """The number of the newest of these events, 0 for none."""
        row = self._run(f"SELECT max(seq) FROM event {_PLANS}", (session,)).fetchone()
        return int(row[0] or 0)

    def last_event(self, session: int) -> int:
        """The number of the newest event, 0 for none."""
        return int(self._run("SELECT ifnull(max(seq), 0) FROM event WHERE session = ?", (session,)).fetchone()[0])

    def add_event(self, session: int, event: EventRow) -> None:
        """Append an event."""
        self._run(put("event"), (session, *_flat(event)))
        if event.kind in ("intent_set", "voided"):
            self._run("UPDATE session SET plans = plans + 1 WHERE id = ?", (session,))
            self._run(f"{reseal('session')} WHERE id = ?", (session,))

    def replace_event(self, session: int, event: EventRow) -> None:
        """Rewrite an event in place: for redaction alone."""
        self._run(put("event", "REPLACE"), (session, *_flat(event)))


def _event(row: tuple[Any, ...]) -> EventRow:
    seq, head, prev, kind, decider, cause, json, time, *after = row
    return EventRow(seq, head, prev, kind, decider, from_column(cause), from_column(json), time, State(seq, *after))


def _flat(event: EventRow) -> tuple[object, ...]:
    state = event.state
    return (
        event.seq, event.head, event.prev, event.kind, event.decider, column(event.cause), column(event.json), float(event.time),
        state.revision, state.tip, state.cover, state.notes, state.decision, state.undone, state.intent, state.guide,
    )  # fmt: skip
