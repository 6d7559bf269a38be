"""Counts in steps of what other tables hold of them, so that a row that an index has lost is missed."""

from __future__ import annotations

import sqlite3

from ctxfold.store.codec import reseal

__all__ = ["RECOUNT", "recount"]


def _nearest(column: str, kind: str) -> str:
    """The step itself where it holds a record of a kind, else what its parent says."""
    return (
        f"CASE WHEN EXISTS (SELECT 1 FROM record WHERE record.session = step.session AND record.step = step.n AND kind = '{kind}') THEN n"
        f" ELSE ifnull((SELECT older.{column} FROM step AS older WHERE older.session = step.session AND older.n = step.parent), 0) END"
    )


RECOUNT = (
    "UPDATE step SET"
    " held = (SELECT count(*) FROM record WHERE record.session = step.session AND record.step = step.n),"
    " late = (SELECT count(*) FROM record WHERE record.session = step.session AND record.at = step.n AND record.at <> record.step),"
    f" words = {_nearest('words', 'user')}, noted = {_nearest('noted', 'note')}"
    " WHERE session = ? AND n = ?"
)
"""Counts one step anew: its records, those of others shown in it, and the nearest steps back that hold words of the user and notes."""


def recount(connection: sqlite3.Connection, session: int | None = None) -> None:
    """Count every step of a session, or of all, oldest first, for each builds on the one before it."""
    chosen = "" if session is None else " WHERE session = ?1"
    given = () if session is None else (session,)
    places = connection.execute(f"SELECT session, n FROM step{chosen} ORDER BY session, n", given).fetchall()
    connection.executemany(RECOUNT, places)
    connection.execute(reseal("step") + chosen, given)
