"""The SQLite rows of branches, topics and events, as `protocol.Forest` describes them."""

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
    """`protocol.Forest` over SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def heads(self, session: int) -> list[HeadRow]:
        rows = self._run("SELECT id, name, topic, seq, created FROM head WHERE session = ? ORDER BY id", (session,))
        return [HeadRow(*row) for row in rows]

    def add_head(self, session: int, head: HeadRow) -> None:
        self._run(
            "INSERT INTO head (session, id, name, topic, seq, created) VALUES (?, ?, ?, ?, ?, ?)",
            (session, head.id, head.name, head.topic, head.seq, head.created),
        )

    def move_head(self, session: int, head: int, seq: int) -> None:
        self._run("UPDATE head SET seq = ? WHERE session = ? AND id = ?", (seq, session, head))

    def rename_head(self, session: int, head: int, name: str) -> None:
        self._run("UPDATE head SET name = ? WHERE session = ? AND id = ?", (name, session, head))

    def topics(self, session: int) -> list[TopicRow]:
        rows = self._run("SELECT id, name FROM topic WHERE session = ? ORDER BY id", (session,))
        return [TopicRow(*row) for row in rows]

    def add_topic(self, session: int, topic: TopicRow) -> None:
        self._run("INSERT INTO topic (session, id, name) VALUES (?, ?, ?)", (session, topic.id, topic.name))

    def rename_topic(self, session: int, topic: int, name: str) -> None:
        self._run("UPDATE topic SET name = ? WHERE session = ? AND id = ?", (name, session, topic))

    def event(self, session: int, seq: int) -> EventRow | None:
        row = self._run(f"SELECT {_EVENT} FROM event WHERE session = ? AND seq = ?", (session, seq)).fetchone()
        return None if row is None else _event(row)

    def events(self, session: int, after: int = 0, limit: int | None = None, newest: bool = False) -> list[EventRow]:
        order = "DESC" if newest else "ASC"
        found = self._run(
            f"SELECT {_EVENT} FROM event WHERE session = ? AND seq > ? ORDER BY seq {order} LIMIT ?",
            (session, after, -1 if limit is None else limit),
        )
        return [_event(row) for row in found]

    def intents(self, session: int) -> list[EventRow]:
        return [_event(row) for row in self._run(f"SELECT {_EVENT} FROM event {_PLANS} ORDER BY seq", (session,))]

    def newest_intent(self, session: int) -> int:
        row = self._run(f"SELECT max(seq) FROM event {_PLANS}", (session,)).fetchone()
        return int(row[0] or 0)

    def last_event(self, session: int) -> int:
        return int(self._run("SELECT ifnull(max(seq), 0) FROM event WHERE session = ?", (session,)).fetchone()[0])

    def add_event(self, session: int, event: EventRow) -> None:
        self._put_event("INSERT", session, event)

    def replace_event(self, session: int, event: EventRow) -> None:
        self._put_event("REPLACE", session, event)

    def _put_event(self, how: str, session: int, event: EventRow) -> None:
        self._run(f"{how} INTO event (session, {_EVENT}) VALUES (?, {', '.join('?' * 16)})", (session, *_flat(event)))


def _event(row: tuple[Any, ...]) -> EventRow:
    seq, head, prev, kind, decider, cause, json, time, *after = row
    return EventRow(seq, head, prev, kind, decider, from_column(cause), from_column(json), time, State(seq, *after))


def _flat(event: EventRow) -> tuple[object, ...]:
    state = event.state
    return (
        event.seq, event.head, event.prev, event.kind, event.decider, column(event.cause), column(event.json), event.time,
        state.revision, state.tip, state.cover, state.notes, state.decision, state.undone, state.intent, state.guide,
    )  # fmt: skip
