"""Makes the tables of a SQLite store, and upgrades older ones."""

from __future__ import annotations

import sqlite3
from importlib.resources import files

from ctxfold.store.codec import recount, seal_all

__all__ = ["APPLICATION", "VERSION", "create", "upgrade"]

APPLICATION = 0x63747866
"""The number in a file's header that says whose it is."""
VERSION = 8
_BRINGS = {
    1: ("event", "intent"),
    2: ("session", "budget"),
    3: ("event", "guide"),
    5: ("unscrubbed", "id"),
    7: ("session", "sum"),
}
"""Of each upgrade a table and a column that it brings: where that is there already, it is done, whatever the version says."""
_UPGRADES = (1, 2, 3, 5, 6, 7)
"""The versions that have a script. From 4 to 5 changed only a table that version 7 drops."""
_UNSEALED = 7
"""The last version whose rows had no checksums."""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database, in one transaction."""
    connection.executescript(
        f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {_read('schema')} COMMIT;"
    )


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring an older store up to this version, in one transaction; nothing happens when another process was faster."""
    run = connection.execute
    run("BEGIN IMMEDIATE")
    try:
        for older in range(run("PRAGMA user_version").fetchone()[0], VERSION):
            if older in _UPGRADES and not _is_done(connection, older):
                lines = _read(f"upgrade_{older}").splitlines(keepends=True)
                words = "".join(line for line in lines if not line.startswith("--"))
                for statement in filter(str.strip, words.split(";")):
                    if not _is_added(connection, statement):
                        run(statement)
                if older == _UNSEALED:
                    recount(connection)
                    seal_all(connection)
            run(f"PRAGMA user_version = {older + 1}")
        run("COMMIT")
    except BaseException:
        run("ROLLBACK")
        raise


def _is_done(connection: sqlite3.Connection, older: int) -> bool:
    brings = _BRINGS.get(older)
    return brings is not None and _has(connection, *brings)


def _is_added(connection: sqlite3.Connection, statement: str) -> bool:
    """Whether a statement adds a column that is there already."""
    match statement.split():
        case ["ALTER", "TABLE", table, "ADD", "COLUMN", column, *_]:
            return _has(connection, table, column)
        case _:
            return False


def _has(connection: sqlite3.Connection, table: str, column: str) -> bool:
    found = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column))
    return found.fetchone() is not None


def _read(script: str) -> str:
    return files("ctxfold.store").joinpath("sql", f"{script}.sql").read_text("utf-8")
