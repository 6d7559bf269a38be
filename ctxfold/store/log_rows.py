"""The SQLite rows of steps, records and their bytes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any
from zlib import crc32

from ctxfold.errors import CorruptStore
from ctxfold.log.records import Record, Step
from ctxfold.store.codec import (
    COVERED,
    RECOUNT,
    damaged,
    decode,
    digest,
    encode,
    holds,
    intact,
    pack,
    pack_json,
    put,
    recount,
    reseal,
    searchable,
    unpack,
)
from ctxfold.store.values import Path, StoredRecord

__all__ = ["LogRows"]

_STEP = "n, parent, lane, depth, open, tokens, raw, upto, raw_upto, time"
_cells_of = attrgetter(*_STEP.split(", "))
_RECORD = "id, step, k, at, kind, origin, call_id, entry, shown, form, idempotency"
_CHECKED_STEP = f"{_STEP}, {holds('step')}"
_CHECKED_RECORD = f"{_RECORD}, form_sum, form_sum = checksum(CAST(form AS BLOB)), {holds('record')}"
_NAMES = "(SELECT value FROM json_each(?2))"
_NAMED = f"AND (idempotency LIKE '%*%' OR idempotency IN {_NAMES} OR call_id IN {_NAMES})"
_NEAREST = {"user": "words", "note": "noted"}
"""By the kind of a record: the column that leads to the nearest step back with one."""
_RECORDED = ", ".join(f"?{at}" for at in range(1, 11))
_UNLINED = pack_json([])
"""The form of a record whose lines are made from the log."""
_UNLINED_SUM = crc32(_UNLINED)
_INDEX = "INSERT INTO fts (rowid, text) VALUES (?, ?)"


class LogRows:
    """Steps, records and their bytes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._run = connection.execute

    def step(self, session: int, n: int) -> Step | None:
        """One step."""
        rows = self._run(f"SELECT {_CHECKED_STEP} FROM step WHERE session = ? AND n = ?", (session, n)).fetchall()
        return next(map(_step, intact(rows, f"step s{n}")), None)

    def steps(self, session: int, numbers: Sequence[int]) -> list[Step]:
        """Steps by number, in the order of their numbers. Each of them is there."""
        found: list[Step] = []
        for part in _batches(numbers):
            chosen = f"session = ? AND n IN ({', '.join('?' * len(part))})"
            rows = self._run(f"SELECT {_CHECKED_STEP} FROM step WHERE {chosen} ORDER BY n", (session, *part))
            found += map(_step, intact(rows, "a step"))
        if len(found) != len(set(numbers)):
            raise damaged("the list of steps")
        return found

    def add_step(self, session: int, step: Step) -> None:
        """A new step."""
        self._put_step("INSERT", session, step)

    def replace_step(self, session: int, step: Step) -> None:
        """A step that was filled, or whose records grew."""
        self._put_step("REPLACE", session, step)

    def _put_step(self, how: str, session: int, step: Step) -> None:
        self._run(f"{how} INTO step (session, {_STEP}) VALUES (?{', ?' * 10})", (session, *_cells_of(step)))
        self._recount(session, step.n)

    def _recount(self, *step: int) -> None:
        if self._run(RECOUNT, step).rowcount:
            self._run(f"{reseal('step')} WHERE session = ? AND n = ?", step)

    def recount(self, session: int) -> None:
        """Count what each step holds anew: for import alone, which keeps steps before their records."""
        recount(self._connection, session)

    def last_step(self, session: int) -> int:
        """The highest step number given out, 0 for none."""
        return int(self._run("SELECT ifnull(max(n), 0) FROM step WHERE session = ?", (session,)).fetchone()[0])

    def path(self, session: int, tip: int) -> Path:
        """The lanes that lead to a step."""
        step = self.step(session, tip) if tip else None
        if step is None and tip:
            raise damaged(f"step s{tip}")
        lane, depth = (0, 0) if step is None else (step.lane, step.depth)
        lanes: list[tuple[int, int]] = []
        while lane:
            lanes.append((lane, depth))
            chosen = f"SELECT parent, fork, {holds('lane')} FROM lane WHERE session = ? AND id = ?"
            rows = self._run(chosen, (session, lane)).fetchall()
            if not rows:
                raise damaged(f"lane {lane} of a path")
            ((lane, depth),) = intact(rows, f"lane {lane} of a path")
        return tuple(lanes)

    def along(self, session: int, path: Path, low: int, high: int) -> list[Step]:
        """The steps of a path with depths in [low, high], in path order."""
        found: list[Step] = []
        for lane, depth in reversed(path):
            if depth < low:
                continue
            top = min(depth, high)
            bottom = max(low, found[-1].depth + 1 if found else low)
            between = "session = ? AND lane = ? AND depth BETWEEN ? AND ? ORDER BY depth"
            rows = self._run(f"SELECT {_CHECKED_STEP} FROM step WHERE {between}", (session, lane, bottom, top))
            found += map(_step, intact(rows, "a step"))
        if [step.depth for step in found] != list(range(low, min(high, path[0][1] if path else 0) + 1)):
            raise damaged("a path")
        return found

    def add_lane(self, session: int, parent: int, fork: int) -> int:
        """A new lane that leaves `parent` after depth `fork`; its number."""
        lane = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM lane WHERE session = ?", (session,)).fetchone()[0])
        self.put_lane(session, lane, parent, fork)
        return lane

    def put_lane(self, session: int, lane: int, parent: int, fork: int) -> None:
        """A lane under its own number: for import alone."""
        self._run(put("lane"), (session, lane, parent, fork))

    def lanes(self, session: int) -> list[tuple[int, int, int]]:
        """Every lane of a session as (number, parent, fork)."""
        rows = self._run(
            f"SELECT id, parent, fork, {holds('lane')} FROM lane WHERE session = ? ORDER BY id", (session,)
        )
        return [(lane, parent, fork) for lane, parent, fork in intact(rows, "a lane")]

    def place_taken(self, session: int, lane: int, depth: int) -> bool:
        """Whether a step stands at that place already."""
        taken = "SELECT 1 FROM step WHERE session = ? AND lane = ? AND depth = ?"
        return self._run(taken, (session, lane, depth)).fetchone() is not None

    def records(self, session: int, numbers: Sequence[int], late: bool = False) -> list[StoredRecord]:
        """The records of steps, in order; with `late`, those shown under these steps though they belong to others."""
        found: list[StoredRecord] = []
        where, order, counted = (
            ("at IN ({}) AND at <> step", "at, id", "late") if late else ("step IN ({})", "step, k", "held")
        )
        for part in _batches(sorted(set(numbers))):
            marks = ", ".join("?" * len(part))
            rows = self._run(
                f"SELECT {_CHECKED_RECORD} FROM record WHERE session = ? AND {where.format(marks)} ORDER BY {order}",
                (session, *part),
            ).fetchall()
            wanted = f"SELECT ifnull(sum({counted}), 0) FROM step WHERE session = ? AND n IN ({marks})"
            if self._run(wanted, (session, *part)).fetchone()[0] != len(rows):
                raise damaged("the list of records")
            found += _stored(rows)
        return found

    def record_by_id(self, record: int) -> StoredRecord | None:
        """One record by its row id."""
        rows = self._run(f"SELECT {_CHECKED_RECORD} FROM record WHERE id = ?", (record,)).fetchall()
        return next(iter(_stored(rows)), None)

    def entries_of(self, session: int, named: Sequence[str] | None = None) -> Iterable[StoredRecord]:
        """All records of a session, oldest first; or those whose key or call id is one of some names, and those whose key a redaction blanked."""
        where, told = ("", ()) if named is None else (_NAMED, (json.dumps(named),))
        found = f"SELECT {_CHECKED_RECORD} FROM record WHERE session = ?1 {where} ORDER BY id"
        return _stored(self._run(found, (session, *told)))

    def longer(self, session: int, size: int) -> list[StoredRecord]:
        """The records of more bytes than that, newest first."""
        rows = self._run(
            f"SELECT {_CHECKED_RECORD} FROM record WHERE session = ? AND (SELECT size FROM entry WHERE entry.id = record.entry) > ? ORDER BY id DESC",
            (session, size),
        )
        return _stored(rows)

    def steps_with(self, session: int, kind: str, path: Path, high: int, limit: int) -> list[int]:
        """The newest steps of a path, up to a depth, that hold a record of a kind, `user` or `note`; newest first."""
        found: list[int] = []
        (step,) = self.along(session, path, high, high) or (None,)
        while step is not None and len(found) < limit:
            nearest = f"SELECT {_NEAREST[kind]} FROM step WHERE session = ? AND n = ?"
            row = self._run(nearest, (session, step.n)).fetchone()
            if not row[0]:
                break
            found.append(int(row[0]))
            step = self._behind(session, found[-1])
        return found

    def _behind(self, session: int, n: int) -> Step | None:
        """The parent of a step; None for the first of a path."""
        step = self.step(session, n)
        parent = None if step is None else self.step(session, step.parent)
        if step is None or (parent is None and step.parent):
            raise damaged("a path")
        return parent

    def text(self, entry: int) -> str:
        """The exact text of an entry."""
        packed, kept, name = self._entry(entry, "packed, bytes, hash")
        raw = unpack(packed, kept)
        if digest(raw) != name:
            raise CorruptStore(f"entry {entry} does not match its hash; restore a copy of the store")
        return decode(raw)

    def entry_hash(self, entry: int) -> bytes:
        """The content hash of an entry, 16 bytes."""
        return bytes(self._entry(entry, "hash")[0])

    def _entry(self, entry: int, columns: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] | None = self._run(f"SELECT {columns} FROM entry WHERE id = ?", (entry,)).fetchone()
        if row is None:
            raise CorruptStore(f"entry {entry} is not there; restore a copy of the store")
        return row

    def add_entry(self, text: str) -> int:
        """Keep a text, once however often it is said; its row id."""
        raw = encode(text)
        name = digest(raw)
        row = self._run("SELECT id FROM entry WHERE hash = ?", (name,)).fetchone()
        if row is not None:
            return int(row[0])
        kept = (name, len(raw), *pack(raw))
        made = self._run("INSERT INTO entry (hash, size, packed, bytes) VALUES (?, ?, ?, ?)", kept).lastrowid
        return int(made or 0)

    def add_record(
        self, session: int, record: Record, entry: int, shown: int | None, form: bytes, idempotency: str | None
    ) -> None:
        """Keep a record. It can be searched from here on."""
        cells = (
            session, record.step, record.k, record.at or record.step, record.kind, record.origin, record.call_id,
            entry, shown, idempotency, form,
        )  # fmt: skip
        made = self._run(
            f"INSERT INTO record ({COVERED['record']}, sum, form, form_sum) VALUES ({_RECORDED}, checksum({_RECORDED}), ?11, checksum(?11))",
            cells,
        ).lastrowid
        for step in {record.step, record.at or record.step}:
            self._recount(session, step)
        self._run(_INDEX, (made, searchable(record.text)))

    def blank(self, record: StoredRecord, text: str, form: bytes) -> None:
        """Put another text in place of a record's, and drop what was derived from the old one."""
        self.unindex(record)
        blanked = (self.add_entry(text), form, record.id)
        self._run(
            "UPDATE record SET entry = ?1, shown = NULL, form = ?2, form_sum = checksum(?2) WHERE id = ?3", blanked
        )
        self._run(f"{reseal('record')} WHERE id = ?", (record.id,))
        self._run(_INDEX, (record.id, searchable(text)))

    def rename(self, session: int, record: StoredRecord, call_id: str | None, idempotency: str | None) -> None:
        """Give a record another call id and idempotency key: for redaction alone."""
        named = (call_id, idempotency, session, record.id)
        self._run("UPDATE record SET call_id = ?, idempotency = ? WHERE session = ? AND id = ?", named)
        self._run(f"{reseal('record')} WHERE id = ?", (record.id,))

    def unindex(self, record: StoredRecord) -> None:
        """Take the words of a record out of the index, which has to be told what they were."""
        words = (record.id, searchable(self.text(record.entry)))
        self._run("INSERT INTO fts (fts, rowid, text) VALUES ('delete', ?, ?)", words)

    def sweep(self) -> None:
        """Drop the bytes of entries that no record holds any more. A scrub is due then, until one is done."""
        self._run("INSERT INTO unscrubbed DEFAULT VALUES")
        held = "SELECT entry FROM record UNION SELECT shown FROM record WHERE shown IS NOT NULL"
        self._run(f"DELETE FROM entry WHERE id NOT IN ({held})")


def _batches(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + 500] for at in range(0, len(numbers), 500))


def _stored(rows: Iterable[tuple[Any, ...]]) -> list[StoredRecord]:
    """Records whose checksums are their own. A form that is not what was written is made anew, where it says that the lines are made from the log."""
    found: list[StoredRecord] = []
    for *cells, form_sum, formed in intact(rows, "a record"):
        if not formed:
            if form_sum != _UNLINED_SUM:
                raise damaged("the form of a record")
            cells[9] = _UNLINED
        found.append(StoredRecord(*cells))
    return found


def _step(row: tuple[Any, ...]) -> Step:
    n, parent, lane, depth, waits, *rest = row
    return Step(n, parent, lane, depth, bool(waits), *rest)
