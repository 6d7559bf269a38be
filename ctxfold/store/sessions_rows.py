"""The SQLite rows of sessions."""

from __future__ import annotations

import sqlite3

from ctxfold.errors import CorruptStore
from ctxfold.store.codec import damaged, holds, intact, reseal
from ctxfold.store.values import SessionRow

__all__ = ["SessionsRows"]

_UPDATED = "ifnull((SELECT time FROM event WHERE event.session = session.id ORDER BY seq DESC LIMIT 1), created)"
_NEWEST = (
    "SELECT ifnull((SELECT max(seq) FROM event WHERE session = ?1), 0),"
    " ifnull((SELECT max(seq) FROM event INDEXED BY event_redacted WHERE session = ?1 AND kind = 'redacted'), 0)"
    " FROM session WHERE id = ?1"
)
"""One statement, for every recording asks it. The planner would look for the redaction among all events of the session."""


class SessionsRows:
    """Sessions by name."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def named(self, name: str) -> SessionRow | None:
        """The session of that name."""
        rows = self._run(
            f"SELECT id, name, created, {_UPDATED}, current, {holds('session')} FROM session WHERE name = ?", (name,)
        ).fetchall()
        return next((SessionRow(*row) for row in intact(rows, "the session")), None)

    def names(self) -> list[str]:
        """Every session's name, the newest work first."""
        return [name for (name,) in self._run(f"SELECT name FROM session ORDER BY {_UPDATED} DESC, id DESC")]

    def add(self, name: str, created: float) -> SessionRow:
        """A new, empty session. Its number was never that of another, one that was dropped included."""
        rows = self._run(f"SELECT name, {holds('session')} FROM session NOT INDEXED")
        if (name,) in intact(rows, "the list of sessions"):
            raise damaged("the list of sessions")
        made = self._run("INSERT INTO session (name, created) VALUES (?, ?)", (name, float(created))).lastrowid
        self._reseal(int(made or 0))
        row = self.named(name)
        if made is None or row is None:
            raise CorruptStore(f"the session {name} was written but does not read back; run `ctxfold doctor`")
        return row

    def _reseal(self, session: int) -> None:
        self._run(f"{reseal('session')} WHERE id = ?", (session,))

    def newest(self, session: int) -> tuple[int, int] | None:
        """The numbers of its newest event and of its newest redaction, 0 for none; None when there is no such session."""
        row = self._run(_NEWEST, (session,)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def settle(self, session: int, current: int) -> None:
        """Note the branch that new handles start on."""
        self._run("UPDATE session SET current = ? WHERE id = ?", (current, session))
        self._reseal(session)

    def rename(self, session: int, name: str) -> None:
        """Give a session another name: for redaction alone."""
        self._run("UPDATE session SET name = ? WHERE id = ?", (name, session))
        self._reseal(session)

    def budget(self, session: int) -> int:
        """The tokens of its views where none are said, 0 while nobody said."""
        rows = self._run(f"SELECT budget, {holds('session')} FROM session WHERE id = ?", (session,))
        for (budget,) in intact(rows, "the session"):
            return int(budget)
        raise damaged("the session")

    def keep_budget(self, session: int, budget: int) -> None:
        """Note the tokens of its views where none are said."""
        self._run("UPDATE session SET budget = ? WHERE id = ?", (budget, session))
        self._reseal(session)

    def drop(self, session: int) -> None:
        """Remove a session's rows. What only it referenced stays until a sweep."""
        for table in ("record", "step", "lane", "event", "head", "topic", "tile", "cell", "note"):
            self._run(f"DELETE FROM {table} WHERE session = ?", (session,))
        self._run("DELETE FROM session WHERE id = ?", (session,))

    def raw_bytes(self, session: int) -> int:
        """Bytes of a session's raw records."""
        return int(
            self._run(
                "SELECT ifnull(sum(entry.size), 0) FROM record JOIN entry ON entry.id = record.entry WHERE session = ?",
                (session,),
            ).fetchone()[0]
        )
