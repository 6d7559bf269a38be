"""The SQLite rows of steps, records and their bytes, as `protocol.Log` describes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from ctxfold.errors import CorruptStore
from ctxfold.log.records import Record, Step
from ctxfold.store.codec import decode, digest, encode, pack, searchable, unpack
from ctxfold.store.values import Path, StoredRecord

__all__ = ["LogRows"]

_STEP = "n, parent, lane, depth, open, tokens, raw, upto, raw_upto, time"
_cells_of = attrgetter(*_STEP.split(", "))
_RECORD = "id, step, k, at, kind, origin, call_id, entry, shown, form, idempotency"


class LogRows:
    """`protocol.Log` over SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def step(self, session: int, n: int) -> Step | None:
        row = self._run(f"SELECT {_STEP} FROM step WHERE session = ? AND n = ?", (session, n)).fetchone()
        return None if row is None else _step(row)

    def steps(self, session: int, numbers: Sequence[int]) -> list[Step]:
        found: list[Step] = []
        for part in _batches(numbers):
            chosen = f"session = ? AND n IN ({', '.join('?' * len(part))})"
            found += map(_step, self._run(f"SELECT {_STEP} FROM step WHERE {chosen} ORDER BY n", (session, *part)))
        return found

    def add_step(self, session: int, step: Step) -> None:
        self._put_step("INSERT", session, step)

    def replace_step(self, session: int, step: Step) -> None:
        self._put_step("REPLACE", session, step)

    def _put_step(self, how: str, session: int, step: Step) -> None:
        self._run(
            f"{how} INTO step (session, {_STEP}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (session, *_cells_of(step)),
        )

    def last_step(self, session: int) -> int:
        return int(self._run("SELECT ifnull(max(n), 0) FROM step WHERE session = ?", (session,)).fetchone()[0])

    def path(self, session: int, tip: int) -> Path:
        step = self.step(session, tip) if tip else None
        return () if step is None else self.path_to(session, step.lane, step.depth)

    def path_to(self, session: int, lane: int, depth: int) -> Path:
        lanes: list[tuple[int, int]] = []
        while lane:
            lanes.append((lane, depth))
            row = self._run("SELECT parent, fork FROM lane WHERE session = ? AND id = ?", (session, lane)).fetchone()
            if row is None:
                raise CorruptStore(f"lane {lane} of a path is not there; restore a copy of the store")
            lane, depth = row
        return tuple(lanes)

    def along(self, session: int, path: Path, low: int, high: int) -> list[Step]:
        found: list[Step] = []
        for lane, depth in reversed(path):
            if depth < low:
                continue
            top = min(depth, high)
            bottom = max(low, found[-1].depth + 1 if found else low)
            rows = self._run(
                f"SELECT {_STEP} FROM step WHERE session = ? AND lane = ? AND depth BETWEEN ? AND ? ORDER BY depth",
                (session, lane, bottom, top),
            )
            found += map(_step, rows)
        return found

    def add_lane(self, session: int, parent: int, fork: int) -> int:
        lane = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM lane WHERE session = ?", (session,)).fetchone()[0])
        self.put_lane(session, lane, parent, fork)
        return lane

    def put_lane(self, session: int, lane: int, parent: int, fork: int) -> None:
        self._run("INSERT INTO lane (session, id, parent, fork) VALUES (?, ?, ?, ?)", (session, lane, parent, fork))

    def lanes(self, session: int) -> list[tuple[int, int, int]]:
        return self._run("SELECT id, parent, fork FROM lane WHERE session = ? ORDER BY id", (session,)).fetchall()

    def place_taken(self, session: int, lane: int, depth: int) -> bool:
        place = (session, lane, depth)
        return (
            self._run("SELECT 1 FROM step WHERE session = ? AND lane = ? AND depth = ?", place).fetchone() is not None
        )

    def records(self, session: int, numbers: Sequence[int], late: bool = False) -> list[StoredRecord]:
        found: list[StoredRecord] = []
        where, order = ("at IN ({}) AND at <> step", "at, id") if late else ("step IN ({})", "step, k")
        for part in _batches(numbers):
            marks = where.format(", ".join("?" * len(part)))
            rows = self._run(
                f"SELECT {_RECORD} FROM record WHERE session = ? AND {marks} ORDER BY {order}", (session, *part)
            )
            found.extend(StoredRecord(*row) for row in rows)
        return found

    def record_by_id(self, record: int) -> StoredRecord | None:
        row = self._run(f"SELECT {_RECORD} FROM record WHERE id = ?", (record,)).fetchone()
        return None if row is None else StoredRecord(*row)

    def entries_of(self, session: int) -> Iterable[StoredRecord]:
        rows = self._run(f"SELECT {_RECORD} FROM record WHERE session = ? ORDER BY id", (session,))
        return [StoredRecord(*row) for row in rows]

    def longer(self, session: int, size: int) -> list[StoredRecord]:
        rows = self._run(
            f"SELECT {_RECORD} FROM record WHERE session = ? AND (SELECT size FROM entry WHERE entry.id = record.entry) > ? ORDER BY id DESC",
            (session, size),
        )
        return [StoredRecord(*row) for row in rows]

    def steps_with(self, session: int, kind: str, path: Path, high: int, limit: int) -> list[int]:
        found: list[int] = []
        for lane, depth in path:
            rows = self._run(
                "SELECT DISTINCT step.n FROM step JOIN record ON record.session = step.session AND record.step = step.n AND record.kind = ?"
                " WHERE step.session = ? AND step.lane = ? AND step.depth <= ? ORDER BY step.depth DESC LIMIT ?",
                (kind, session, lane, min(depth, high), limit - len(found)),
            )
            found.extend(n for (n,) in rows)
            if len(found) >= limit:
                break
        return found

    def text(self, entry: int) -> str:
        row = self._run("SELECT packed, bytes, hash FROM entry WHERE id = ?", (entry,)).fetchone()
        if row is None:
            raise CorruptStore(f"entry {entry} is not there; restore a copy of the store")
        raw = unpack(row[0], row[1])
        if digest(raw) != row[2]:
            raise CorruptStore(f"entry {entry} does not match its hash; restore a copy of the store")
        return decode(raw)

    def entry_hash(self, entry: int) -> bytes:
        row = self._run("SELECT hash FROM entry WHERE id = ?", (entry,)).fetchone()
        if row is None:
            raise CorruptStore(f"entry {entry} is not there; restore a copy of the store")
        return bytes(row[0])

    def add_entry(self, text: str) -> int:
        raw = encode(text)
        name = digest(raw)
        row = self._run("SELECT id FROM entry WHERE hash = ?", (name,)).fetchone()
        if row is not None:
            return int(row[0])
        packed, kept = pack(raw)
        made = self._run(
            "INSERT INTO entry (hash, size, packed, bytes) VALUES (?, ?, ?, ?)", (name, len(raw), packed, kept)
        ).lastrowid
        return int(made or 0)

    def add_record(
        self, session: int, record: Record, entry: int, shown: int | None, form: bytes, idempotency: str | None
    ) -> int:
        made = self._run(
            "INSERT INTO record (session, step, k, at, kind, origin, call_id, entry, shown, form, idempotency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session,
                record.step,
                record.k,
                record.at or record.step,
                record.kind,
                record.origin,
                record.call_id,
                entry,
                shown,
                form,
                idempotency,
            ),
        ).lastrowid
        self._run("INSERT INTO fts (rowid, text) VALUES (?, ?)", (made, searchable(record.text)))
        return int(made or 0)

    def blank(self, record: StoredRecord, text: str, form: bytes) -> None:
        self.unindex(record)
        entry = self.add_entry(text)
        self._run("UPDATE record SET entry = ?, shown = NULL, form = ? WHERE id = ?", (entry, form, record.id))
        self._run("INSERT INTO fts (rowid, text) VALUES (?, ?)", (record.id, searchable(text)))

    def rename(self, session: int, record: StoredRecord, call_id: str | None, idempotency: str | None) -> None:
        self._run(
            "UPDATE record SET call_id = ?, idempotency = ? WHERE session = ? AND id = ?",
            (call_id, idempotency, session, record.id),
        )

    def sweep(self) -> None:
        self._run("INSERT INTO unscrubbed DEFAULT VALUES")
        self._run(
            "DELETE FROM entry WHERE id NOT IN (SELECT entry FROM record UNION SELECT shown FROM record WHERE shown IS NOT NULL)"
        )

    def unindex(self, record: StoredRecord) -> None:
        self._run(
            "INSERT INTO fts (fts, rowid, text) VALUES ('delete', ?, ?)",
            (record.id, searchable(self.text(record.entry))),
        )


def _batches(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + 500] for at in range(0, len(numbers), 500))


def _step(row: tuple[Any, ...]) -> Step:
    n, parent, lane, depth, waits, *rest = row
    return Step(n, parent, lane, depth, bool(waits), *rest)
