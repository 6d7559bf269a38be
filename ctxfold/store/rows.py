"""The five rooms of rows over one connection, as one transaction sees them. It opens no transaction and applies no rule."""

from __future__ import annotations

import sqlite3

from ctxfold.store.cover_rows import CoverRows
from ctxfold.store.facts_rows import FactsRows
from ctxfold.store.forest_rows import ForestRows
from ctxfold.store.log_rows import LogRows
from ctxfold.store.sessions_rows import SessionsRows

__all__ = ["Rows"]


class Rows:
    """Reads and writes rows inside a transaction that others open and end."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.sessions = SessionsRows(connection)
        self.forest = ForestRows(connection)
        self.log = LogRows(connection)
        self.cover = CoverRows(connection)
        self.facts = FactsRows(connection)
