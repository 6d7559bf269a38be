"""What is known of the database library this Python brings, without opening a store."""

from __future__ import annotations

import sqlite3

from ctxfold.store.sqlite import AFFECTED_BELOW

__all__ = ["guarded", "library"]


def library() -> str:
    """The SQLite version in use."""
    return sqlite3.sqlite_version


def guarded() -> bool:
    """Whether that version has the WAL-reset fault, so that a lock stands round every write."""
    return sqlite3.sqlite_version_info < AFFECTED_BELOW
