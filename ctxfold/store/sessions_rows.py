"""Sessions by name, as rows. It knows no branch and no step."""

from __future__ import annotations

import sqlite3

from ctxfold.errors import CorruptStore
from ctxfold.store.log_rows import LogRows
from ctxfold.store.values import SessionRow

__all__ = ["SessionsRows"]


class SessionsRows:
    """Sessions by name."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self._log = LogRows(connection)

    def named(self, name: str) -> SessionRow | None:
        """The session of that name."""
        row = self._run(
            "SELECT id, name, created, updated, current, budget FROM session WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else SessionRow(*row)

    def names(self) -> list[str]:
        """Every session's name, the newest work first."""
        return [name for (name,) in self._run("SELECT name FROM session ORDER BY updated DESC, id DESC")]

    def add(self, name: str, created: float) -> SessionRow:
        """A new, empty session."""
        made = self._run(
            "INSERT INTO session (name, created, updated) VALUES (?, ?, ?)", (name, created, created)
        ).lastrowid
        row = self.named(name)
        if made is None or row is None:
            raise CorruptStore(f"the session {name} was written but does not read back; run `ctxfold doctor`")
        return row

    def touch(self, session: int, when: float, current: int | None = None, budget: int | None = None) -> None:
        """Note the time of the last change, the branch new handles start on, the driver's budget."""
        self._run(
            "UPDATE session SET updated = ?, current = ifnull(?, current), budget = ifnull(?, budget) WHERE id = ?",
            (when, current, budget, session),
        )

    def drop(self, session: int) -> None:
        """Remove a session and whatever only it referenced."""
        records = list(self._log.entries_of(session))
        for record in records:
            self._log.unindex(record)
        for table in ("record", "step", "lane", "event", "head", "topic", "tile", "cell", "note", "fact"):
            self._run(f"DELETE FROM {table} WHERE session = ?", (session,))
        for record in records:
            self._log.release(record.entry)
            if record.shown is not None:
                self._log.release(record.shown)
        self._run("DELETE FROM session WHERE id = ?", (session,))

    def raw_bytes(self, session: int) -> int:
        """Bytes of a session's raw records."""
        return int(
            self._run(
                "SELECT ifnull(sum(entry.size), 0) FROM record JOIN entry ON entry.id = record.entry WHERE session = ?",
                (session,),
            ).fetchone()[0]
        )
