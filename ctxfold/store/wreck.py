"""Reads what still reads of a damaged store: a copy of it is looked at, row by row, and what is not as it was written is left out."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxfold.errors import CorruptStore
from ctxfold.store.codec import decode, digest, holds, register, unpack
from ctxfold.store.sqlite import upgrade

__all__ = ["LooseRecord", "Wreck"]

_RECORD = "session, step, k, kind, origin, call_id, entry, shown"


@dataclass(frozen=True, slots=True)
class LooseRecord:
    """A record as far as it reads; `text` is None where its bytes do not."""

    step: int
    k: int
    kind: str
    origin: str
    call_id: str | None
    text: str | None
    shown: str | None


class Wreck:
    """A copy of a store in a folder of its own. The store itself is not touched. Raises OSError: it cannot be copied."""

    def __init__(self, store: Path, folder: Path) -> None:
        self.copy: Path = folder / "copy.db"
        shutil.copyfile(store, self.copy)
        with suppress(FileNotFoundError):
            shutil.copyfile(store.with_name(f"{store.name}-wal"), folder / "copy.db-wal")
        self._connection = sqlite3.connect(self.copy, isolation_level=None)
        register(self._connection)
        self._sealed = self._upgrade()

    def names(self) -> dict[int, str]:
        """The sessions' names by their numbers; one whose name does not read is named by its number."""
        found = {row: name for row, name in self._rows("session", "id, name") if isinstance(name, str)}
        numbers = {session for session, *_ in self._rows("record", _RECORD)}
        return {number: found.get(number, f"salvaged-{number}") for number in sorted(numbers | found.keys())}

    def goal(self, session: int) -> str | None:
        """What a session was for, as the last of its notes on it that reads says."""
        goal: str | None = None
        script = f"SELECT text FROM note WHERE session = ? AND slot = 'goal' AND {self._holds('note')} ORDER BY id"
        with suppress(sqlite3.Error):
            for (text,) in self._connection.execute(script, (session,)):
                goal = decode(text)
        return goal

    def records(self, session: int) -> list[LooseRecord]:
        """The records of a session whose rows read, in the order of their addresses."""
        found: dict[tuple[int, int], LooseRecord] = {}
        for owner, step, k, kind, origin, call_id, entry, shown in self._rows("record", _RECORD):
            if owner == session:
                loose = LooseRecord(step, k, kind, origin, call_id, self._text(entry), self._text(shown))
                found.setdefault((step, k), loose)
        return [found[place] for place in sorted(found)]

    def close(self) -> None:
        """Let go of the copy."""
        self._connection.close()

    def _upgrade(self) -> bool:
        """Bring a copy that an older version wrote up to this one; whether its rows have checksums."""
        try:
            upgrade(self._connection)
        except sqlite3.Error:  # it is too damaged for that: its rows are as they are
            return False
        return True

    def _holds(self, table: str) -> str:
        return holds(table) if self._sealed else "1"

    def _text(self, entry: int | None) -> str | None:
        """The text of an entry whose bytes are those of its hash; None of any other."""
        with suppress(sqlite3.Error, CorruptStore, TypeError, UnicodeDecodeError):
            script = "SELECT packed, bytes, hash FROM entry WHERE id = ?"
            for packed, kept, name in self._connection.execute(script, (entry,)):
                raw = unpack(packed, kept)
                return decode(raw) if digest(raw) == name else None
        return None

    def _rows(self, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table that are as they were written, as far as they can be reached."""
        script = f"SELECT id, {self._holds(table)}, {columns} FROM {table} NOT INDEXED WHERE id > ? ORDER BY id"
        for _, whole, *cells in self._scan(script):
            if whole:
                yield tuple(cells)

    def _scan(self, script: str) -> Iterator[tuple[Any, ...]]:
        """Rows by rising number; where a page does not read, those behind it are looked for."""
        after: int | None = -1
        while after is not None:
            try:
                for row in self._connection.execute(script, (after,)):
                    after = int(row[0])
                    yield row
                return
            except sqlite3.Error:
                after = self._next_readable(script, after)

    def _next_readable(self, script: str, bad: int) -> int | None:
        """The first number behind which rows read again; None where there is none."""
        good = bad + 1
        while not self._reads(script, good):
            bad, good = good, good + 2 * (good - bad)
            if good > _FARTHEST:
                return None
        while good - bad > 1:
            middle = (bad + good) // 2
            bad, good = (bad, middle) if self._reads(script, middle) else (middle, good)
        return good

    def _reads(self, script: str, after: int) -> bool:
        try:
            self._connection.execute(f"{script} LIMIT 1", (after,)).fetchone()
        except sqlite3.Error:
            return False
        return True


_FARTHEST = 1 << 40
"""The number behind which no row is looked for."""
