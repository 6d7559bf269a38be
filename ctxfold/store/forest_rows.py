"""Branches, topics and events, as rows. It applies no rule of the forest."""

from __future__ import annotations

import sqlite3
from typing import Any

from ctxfold.store.codec import column, from_column
from ctxfold.store.values import EventRow, HeadRow, State, TopicRow

__all__ = ["ForestRows"]

_EVENT = (
    "seq, head, prev, kind, decider, cause, json, time, revision, tip, cover, notes, decision, undone, intent, guide"
)
_PLANS = "INDEXED BY event_intent WHERE session = ? AND kind IN ('intent_set', 'voided')"
"""The planner would walk every event of a session instead: it takes the key for the nearer way to the newest."""


class ForestRows:
    """Branches, topics and events."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def heads(self, session: int) -> list[HeadRow]:
        """The branches of a session, oldest first."""
        return [
            HeadRow(*row)
            for row in self._run(
                "SELECT id, name, topic, seq, created FROM head WHERE session = ? ORDER BY id", (session,)
            )
        ]

    def add_head(self, session: int, head: HeadRow) -> None:
        """A new branch."""
        self._run(
            "INSERT INTO head (session, id, name, topic, seq, created) VALUES (?, ?, ?, ?, ?, ?)",
            (session, head.id, head.name, head.topic, head.seq, head.created),
        )

    def move_head(self, session: int, head: int, seq: int) -> None:
        """Let a branch stand at an event."""
        self._run("UPDATE head SET seq = ? WHERE session = ? AND id = ?", (seq, session, head))

    def rename_head(self, session: int, head: int, name: str) -> None:
        """Give a branch another name."""
        self._run("UPDATE head SET name = ? WHERE session = ? AND id = ?", (name, session, head))

    def topics(self, session: int) -> list[TopicRow]:
        """The topics of a session, oldest first."""
        return [
            TopicRow(*row) for row in self._run("SELECT id, name FROM topic WHERE session = ? ORDER BY id", (session,))
        ]

    def add_topic(self, session: int, topic: TopicRow) -> None:
        """A new topic."""
        self._run("INSERT INTO topic (session, id, name) VALUES (?, ?, ?)", (session, topic.id, topic.name))

    def rename_topic(self, session: int, topic: int, name: str) -> None:
        """Give a topic another name."""
        self._run("UPDATE topic SET name = ? WHERE session = ? AND id = ?", (name, session, topic))

    def event(self, session: int, seq: int) -> EventRow | None:
        """One event."""
        row = self._run(f"SELECT {_EVENT} FROM event WHERE session = ? AND seq = ?", (session, seq)).fetchone()
        return None if row is None else _event(row)

    def events(self, session: int, after: int = 0, limit: int | None = None, newest: bool = False) -> list[EventRow]:
        """Events in order of their number, or the newest first."""
        order = "DESC" if newest else "ASC"
        found = self._run(
            f"SELECT {_EVENT} FROM event WHERE session = ? AND seq > ? ORDER BY seq {order} LIMIT ?",
            (session, after, -1 if limit is None else limit),
        )
        return [_event(row) for row in found]

    def intents(self, session: int) -> list[EventRow]:
        """Every plan of a session, and every undo and redo, in order."""
        found = self._run(
            f"SELECT {_EVENT} FROM event {_PLANS} ORDER BY seq",
            (session,),
        )
        return [_event(row) for row in found]

    def newest_intent(self, session: int) -> int:
        """The number of the newest of these events, 0 for none."""
        row = self._run(f"SELECT max(seq) FROM event {_PLANS}", (session,)).fetchone()
        return int(row[0] or 0)

    def last_event(self, session: int) -> int:
        """The number of the newest event, 0 for none."""
        return int(self._run("SELECT ifnull(max(seq), 0) FROM event WHERE session = ?", (session,)).fetchone()[0])

    def add_event(self, session: int, event: EventRow) -> None:
        """Append an event."""
        self._run(f"INSERT INTO event (session, {_EVENT}) VALUES (?, {', '.join('?' * 16)})", (session, *_flat(event)))

    def replace_event(self, session: int, event: EventRow) -> None:
        """Rewrite an event in place: for redaction alone."""
        self._run(f"REPLACE INTO event (session, {_EVENT}) VALUES (?, {', '.join('?' * 16)})", (session, *_flat(event)))


def _event(row: tuple[Any, ...]) -> EventRow:
    seq, head, prev, kind, decider, cause, json, time, *after = row
    return EventRow(seq, head, prev, kind, decider, from_column(cause), from_column(json), time, State(seq, *after))


def _flat(event: EventRow) -> tuple[object, ...]:
    state = event.state
    return (
        event.seq, event.head, event.prev, event.kind, event.decider, column(event.cause), column(event.json), event.time,
        state.revision, state.tip, state.cover, state.notes, state.decision, state.undone, state.intent, state.guide,
    )  # fmt: skip
