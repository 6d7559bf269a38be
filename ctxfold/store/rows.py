"""Every table in one SQL for both databases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from zlib import crc32

from ctxfold.errors import CorruptStore
from ctxfold.log import Record, Step
from ctxfold.store.codec import (
    COVERED,
    RECOUNT,
    column,
    damaged,
    decode,
    digest,
    encode,
    from_column,
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


class CoverRows:
    """Tiles, the cells of covers, and notes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def tile(self, session: int, tile: int) -> bytes | None:
        """The body of a folded tile; empty where it is not what was written."""
        row = self._run(
            "SELECT CAST(body AS BLOB), body_sum = checksum(CAST(body AS BLOB)) FROM tile WHERE session = ? AND id = ?",
            (session, tile),
        ).fetchone()
        return None if row is None else bytes(row[0]) if row[1] else b""

    def tile_end(self, session: int, tile: int) -> int | None:
        """The last step, in path order, of a folded tile."""
        rows = self._run(f"SELECT last, {holds('tile')} FROM tile WHERE session = ? AND id = ?", (session, tile))
        return next((int(last) for (last,) in intact(rows, f"block b{tile}")), None)

    def tile_numbers(self, session: int) -> list[int]:
        """Every tile of a session."""
        return [int(tile) for (tile,) in self._run("SELECT id FROM tile WHERE session = ? ORDER BY id", (session,))]

    def next_tile(self, session: int) -> int:
        """A tile number never used in this session."""
        return int(self._run("SELECT ifnull(max(id), 0) + 1 FROM tile WHERE session = ?", (session,)).fetchone()[0])

    def add_tile(self, session: int, tile: int, first: int, last: int, tokens: int, body: bytes) -> None:
        """Keep a folded tile."""
        self._run(
            f"INSERT INTO tile ({COVERED['tile']}, sum, body, body_sum)"
            " VALUES (?1, ?2, ?3, ?4, ?5, checksum(?1, ?2, ?3, ?4, ?5), ?6, checksum(?6))",
            (session, tile, first, last, tokens, body),
        )

    def replace_tile(self, session: int, tile: int, body: bytes) -> None:
        """Rewrite a tile's body: for redaction alone."""
        self._run(
            "UPDATE tile SET body = ?1, body_sum = checksum(?1) WHERE session = ?2 AND id = ?3", (body, session, tile)
        )

    def cell(self, session: int, cell: int) -> tuple[int, int]:
        """A cell of a cover: the cell before it and its tile."""
        rows = self._run(f"SELECT prev, tile, {holds('cell')} FROM cell WHERE session = ? AND id = ?", (session, cell))
        for prev, tile in intact(rows, f"cell {cell} of a cover"):
            return int(prev), int(tile)
        raise damaged(f"cell {cell} of a cover")

    def cells(self, session: int) -> list[tuple[int, int, int]]:
        """Every cell of a session as (number, the one before, tile)."""
        rows = self._run(f"SELECT id, prev, tile, {holds('cell')} FROM cell WHERE session = ? ORDER BY id", (session,))
        return [(cell, prev, tile) for cell, prev, tile in intact(rows, "a cell of a cover")]

    def add_cell(self, session: int, prev: int, tile: int) -> int:
        """A cell after another; its number."""
        cell = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM cell WHERE session = ?", (session,)).fetchone()[0])
        self.put_cell(session, cell, prev, tile)
        return cell

    def put_cell(self, session: int, cell: int, prev: int, tile: int) -> None:
        """A cell under its own number: for import alone."""
        self._run(put("cell"), (session, cell, prev, tile))

    def notes(self, session: int, note: int) -> list[tuple[str, str]]:
        """The notes that lead to a root, oldest first, as (slot, text)."""
        found: list[tuple[str, str]] = []
        while note:
            rows = intact(
                self._run(
                    f"SELECT prev, slot, text, {holds('note')} FROM note WHERE session = ? AND id = ?", (session, note)
                ),
                f"note {note}",
            )
            if not rows:
                raise damaged(f"note {note}")
            note, slot, text = rows[0]
            found.append((str(slot), decode(text)))
        return found[::-1]

    def note_links(self, session: int) -> list[tuple[int, int, str, str]]:
        """Every note of a session as (number, the one before, slot, text)."""
        rows = self._run(
            f"SELECT id, prev, slot, text, {holds('note')} FROM note WHERE session = ? ORDER BY id", (session,)
        )
        return [(note, prev, slot, decode(text)) for note, prev, slot, text in intact(rows, "a note")]

    def add_note(self, session: int, prev: int, slot: str, text: str) -> int:
        """A note after another; its number."""
        note = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM note WHERE session = ?", (session,)).fetchone()[0])
        self.put_note(session, note, prev, slot, text)
        return note

    def put_note(self, session: int, note: int, prev: int, slot: str, text: str) -> None:
        """A note under its own number: for import alone."""
        self._run(put("note"), (session, note, prev, slot, encode(text)))

    def replace_note(self, session: int, note: int, text: str) -> None:
        """Rewrite a note's text: for redaction alone."""
        self._run("UPDATE note SET text = ? WHERE session = ? AND id = ?", (encode(text), session, note))
        self._run(f"{reseal('note')} WHERE session = ? AND id = ?", (session, note))


Path = tuple[tuple[int, int], ...]
"""A path as (lane, depth) pairs, newest lane first: of each lane the steps up to that depth. Empty before the first step."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session: its row id, name, times (seconds since 1970) and the branch a new handle starts on."""

    id: int
    name: str
    created: float
    updated: float
    current: int


@dataclass(frozen=True, slots=True)
class State:
    """A revision: what a branch is after one event.

    Attributes:
        seq: the event.
        revision: its content hash, 16 bytes.
        tip: the last step of the path, 0 before the first.
        cover: the newest cell of the cover, 0 for none; what no cell covers is raw.
        notes: the newest note, 0 for none.
        decision: the newest decision that stands, 0 for none.
        undone: the last undo that may be redone, 0 for none.
        intent: the newest plan or extraction that stands, 0 for none.
        guide: the newest refactoring that stands, 0 for none.
    """

    seq: int
    revision: bytes
    tip: int
    cover: int
    notes: int
    decision: int
    undone: int
    intent: int = 0
    guide: int = 0


@dataclass(frozen=True, slots=True)
class HeadRow:
    """A branch: a named head in a topic."""

    id: int
    name: str
    topic: int
    seq: int
    created: float


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A root of the forest."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """One committed event. `head` is the branch it stands on, `prev` the event before it on that branch, `state` the branch after it."""

    seq: int
    head: int
    prev: int
    kind: str
    decider: str
    cause: str
    json: str
    time: float
    state: State


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it is kept: `entry` and `shown` name raw bytes, `form` is its rendered lines."""

    id: int
    step: int
    k: int
    at: int
    kind: str
    origin: str
    call_id: str | None
    entry: int
    shown: int | None
    form: bytes
    idempotency: str | None


_EVENT = (
    "seq, head, prev, kind, decider, cause, json, time, revision, tip, cover, notes, decision, undone, intent, guide"
)
_CHECKED = f"{_EVENT}, {holds('event')}"
_PLANS = "INDEXED BY event_intent WHERE session = ? AND kind IN ('intent_set', 'voided')"
"""The planner would walk every event of a session instead: it takes the key for the nearer way to the newest."""


class ForestRows:
    """Branches, topics and events."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def heads(self, session: int) -> list[HeadRow]:
        """The branches of a session, oldest first."""
        rows = self._run(
            f"SELECT id, name, topic, seq, created, {holds('head')} FROM head WHERE session = ? ORDER BY id", (session,)
        )
        found = [HeadRow(*row) for row in intact(rows, "a branch")]
        if len(found) != self._counted(session, "heads"):
            raise damaged("the list of branches")
        return found

    def add_head(self, session: int, head: HeadRow) -> None:
        """A new branch."""
        self._run(put("head"), (session, head.id, head.name, head.topic, head.seq, float(head.created)))
        self._run("UPDATE session SET heads = heads + 1 WHERE id = ?", (session,))
        self._run(f"{reseal('session')} WHERE id = ?", (session,))

    def move_head(self, session: int, head: int, seq: int) -> None:
        """Let a branch stand at an event."""
        self._change("head", "seq", session, head, seq)

    def rename_head(self, session: int, head: int, name: str) -> None:
        """Give a branch another name."""
        self._change("head", "name", session, head, name)

    def topics(self, session: int) -> list[TopicRow]:
        """The topics of a session, oldest first."""
        rows = self._run(f"SELECT id, name, {holds('topic')} FROM topic WHERE session = ? ORDER BY id", (session,))
        return [TopicRow(*row) for row in intact(rows, "a topic")]

    def add_topic(self, session: int, topic: TopicRow) -> None:
        """A new topic."""
        self._run(put("topic"), (session, topic.id, topic.name))

    def rename_topic(self, session: int, topic: int, name: str) -> None:
        """Give a topic another name."""
        self._change("topic", "name", session, topic, name)

    def _change(self, table: str, column: str, session: int, number: int, value: object) -> None:
        """Change a row that is what was written; of one that is not, the checksum goes on saying so."""
        which = (session, number)
        (whole,) = self._run(f"SELECT {holds(table)} FROM {table} WHERE session = ? AND id = ?", which).fetchone()
        if not whole:
            raise damaged(f"a {table}")
        self._run(f"UPDATE {table} SET {column} = ? WHERE session = ? AND id = ?", (value, *which))
        self._run(f"{reseal(table)} WHERE session = ? AND id = ?", which)

    def _counted(self, session: int, column: str) -> int:
        row = self._run(f"SELECT {column}, {holds('session')} FROM session WHERE id = ?", (session,)).fetchone()
        ((number,),) = intact([] if row is None else [row], "a session") or ((0,),)
        return int(number)

    def event(self, session: int, seq: int) -> EventRow | None:
        """One event."""
        row = self._run(f"SELECT {_CHECKED} FROM event WHERE session = ? AND seq = ?", (session, seq)).fetchall()
        return next(map(_event, intact(row, f"event {seq}")), None)

    def events(self, session: int, limit: int | None = None, newest: bool = False) -> list[EventRow]:
        """Events in order of their number, or the newest first."""
        order = "DESC" if newest else "ASC"
        found = self._run(
            f"SELECT {_CHECKED} FROM event WHERE session = ? ORDER BY seq {order} LIMIT ?",
            (session, -1 if limit is None else limit),
        )
        return [_event(row) for row in intact(found, "an event")]

    def intents(self, session: int) -> list[EventRow]:
        """Every plan of a session, and every undo and redo, in order."""
        rows = intact(self._run(f"SELECT {_CHECKED} FROM event {_PLANS} ORDER BY seq", (session,)), "a plan")
        if len(rows) != self._counted(session, "plans"):
            raise damaged("the list of plans")
        return [_event(row) for row in rows]

    def newest_intent(self, session: int) -> int:
        """The number of the newest of these events, 0 for none."""
        row = self._run(f"SELECT max(seq) FROM event {_PLANS}", (session,)).fetchone()
        return int(row[0] or 0)

    def last_event(self, session: int) -> int:
        """The number of the newest event, 0 for none."""
        return int(self._run("SELECT ifnull(max(seq), 0) FROM event WHERE session = ?", (session,)).fetchone()[0])

    def add_event(self, session: int, event: EventRow) -> None:
        """Append an event."""
        self._run(put("event"), (session, *_flat(event)))
        if event.kind in ("intent_set", "voided"):
            self._run("UPDATE session SET plans = plans + 1 WHERE id = ?", (session,))
            self._run(f"{reseal('session')} WHERE id = ?", (session,))

    def replace_event(self, session: int, event: EventRow) -> None:
        """Rewrite an event in place: for redaction alone."""
        self._run(put("event", "REPLACE"), (session, *_flat(event)))


def _event(row: tuple[Any, ...]) -> EventRow:
    seq, head, prev, kind, decider, cause, json, time, *after = row
    return EventRow(seq, head, prev, kind, decider, from_column(cause), from_column(json), time, State(seq, *after))


def _flat(event: EventRow) -> tuple[object, ...]:
    state = event.state
    return (
        event.seq, event.head, event.prev, event.kind, event.decider, column(event.cause), column(event.json), float(event.time),
        state.revision, state.tip, state.cover, state.notes, state.decision, state.undone, state.intent, state.guide,
    )  # fmt: skip


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
