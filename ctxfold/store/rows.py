"""Every statement on the tables of a store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from ctxfold.errors import CorruptStore
from ctxfold.log import Record, Step
from ctxfold.store.codec import decode, digest, encode, pack, unpack
from ctxfold.store.search import Scope, SearchRows, within
from ctxfold.store.tables import (
    CODECS,
    COLUMNS,
    EVENT,
    HEAD,
    KEYS,
    MARKS,
    NEAREST,
    OWNED,
    PUT_STEP,
    RECORD,
    STEP,
    TOPIC,
    UPDATED,
    EventRow,
    HeadRow,
    Path,
    SessionRow,
    State,
    StoredRecord,
    TopicRow,
)  # fmt: skip

if TYPE_CHECKING:
    from ctxfold.store import Query

_BATCH = 500
"""Numbers in one statement, below the 999 parameters that old SQLite allows."""

_SWEPT = 50
"""Records that one sweep removes."""


def _cells(row: Any) -> dict[str, Any]:
    """The fields of a row by name."""
    return {name: getattr(row, name) for name in type(row).__annotations__}


def damaged(what: str) -> CorruptStore:
    """The error for something that is missing or is not as it was written."""
    return CorruptStore(f"{what} is damaged; restore a copy, or write what still reads with `ctxfold sessions export`")


class _Tables:
    """Statements on some tables."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def _find(self, columns: str, table: str, end: str = "", **equal: object) -> list[tuple[Any, ...]]:
        """The rows of a table in which columns have these values."""
        where = " AND ".join(f"{name} = :{name}" for name in equal)
        return self._query(f"SELECT {columns} FROM {table} WHERE {where} {end}", **equal)

    def _first(self, columns: str, table: str, **equal: object) -> tuple[Any, ...] | None:
        """The first row in which columns have these values, if any."""
        return next(iter(self._find(columns, table, "", **equal)), None)

    def _value(self, column: str, table: str, **equal: object) -> Any | None:
        """The value of one column, None where there is no such row."""
        return (self._first(column, table, **equal) or (None,))[0]

    def _require(self, columns: str, table: str, **equal: object) -> tuple[Any, ...]:
        """The row that another one refers to. Raises CorruptStore: it is missing."""
        row = self._first(columns, table, **equal)
        if row is None:
            raise damaged(f"a {table} of this store")
        return row

    def _last(self, column: str, table: str, **equal: object) -> int:
        """The largest number in a column, 0 without any."""
        return self._find(f"max({column})", table, "", **equal)[0][0] or 0

    def _insert(self, table: str, end: str = "", **cells: object) -> list[tuple[Any, ...]]:
        """Add a row; the columns that an `end` with RETURNING asks for."""
        return self._query(f"INSERT INTO {table} ({', '.join(cells)}) VALUES (:{', :'.join(cells)}) {end}", **cells)

    def _append(self, table: str, session: int, **cells: object) -> int:
        """Add a row of a session under the next number. Returns the number."""
        number = self._last("id", table, session=session) + 1
        self._insert(table, "", session=session, id=number, **cells)
        return number

    def _change(self, table: str, column: str, value: object, **equal: object) -> None:
        """Set one column of the rows in which others have these values."""
        where = " AND ".join(f"{name} = :{name}" for name in equal)
        self._query(f"UPDATE {table} SET {column} = :value WHERE {where}", value=value, **equal)

    def _among(self, sql: str, wanted: Sequence[object], **values: object) -> list[tuple[Any, ...]]:
        """The rows of a query with a place for a list, over a list of any length."""
        rows: list[tuple[Any, ...]] = []
        for low in range(0, len(wanted), _BATCH):
            part = {f"v{at}": value for at, value in enumerate(wanted[low : low + _BATCH])}
            rows += self._query(sql.format(", ".join(f":{name}" for name in part)), **part, **values)
        return rows


class CoverRows(_Tables):
    """Tiles, the cells of covers, and notes."""

    def tile(self, session: int, tile: int) -> bytes | None:
        """The packed body of a tile."""
        return self._value("body", "tile", session=session, id=tile)

    def tile_end(self, session: int, tile: int) -> int | None:
        """The last step, in path order, of a tile."""
        return self._value("last", "tile", session=session, id=tile)

    def next_tile(self, session: int) -> int:
        """A tile number that was never used in this session."""
        return self._last("id", "tile", session=session) + 1

    def add_tile(self, session: int, tile: int, first: int, last: int, tokens: int, body: bytes) -> None:
        """Keep a tile."""
        self._insert("tile", session=session, id=tile, first=first, last=last, tokens=tokens, body=body)

    def cell(self, session: int, cell: int) -> tuple[int, int]:
        """A cell of a cover: the cell before it and its tile."""
        prev, tile = self._require("prev, tile", "cell", session=session, id=cell)
        return prev, tile

    def add_cell(self, session: int, prev: int, tile: int) -> int:
        """Add a cell after another; its number."""
        return self._append("cell", session, prev=prev, tile=tile)

    def notes(self, session: int, note: int) -> list[tuple[str, str]]:
        """The notes that lead to a root, oldest first, as (slot, text)."""
        notes: list[tuple[str, str]] = []
        while note:
            note, slot, text = self._require("prev, slot, text", "note", session=session, id=note)
            notes.append((slot, decode(text)))
        return notes[::-1]

    def newest_note(self, session: int, slot: str) -> str:
        """The newest note of a slot on any branch; empty without one."""
        rows = self._find("text", "note", "ORDER BY id DESC LIMIT 1", session=session, slot=slot)
        return decode(rows[0][0]) if rows else ""

    def add_note(self, session: int, prev: int, slot: str, text: str) -> int:
        """Add a note after another; its number."""
        return self._append("note", session, prev=prev, slot=slot, text=encode(text))


class ForestRows(_Tables):
    """Branches, topics and events."""

    def heads(self, session: int) -> list[HeadRow]:
        """The branches of a session, oldest first."""
        return [HeadRow(*row) for row in self._find(HEAD, "head", "ORDER BY id", session=session)]

    def add_head(self, session: int, head: HeadRow) -> None:
        """Add a branch."""
        self._insert("head", session=session, **_cells(head))

    def change_head(self, session: int, head: int, column: Literal["name", "seq"], value: object) -> None:
        """Give a branch another name, or let it end at another event."""
        self._change("head", column, value, session=session, id=head)

    def topics(self, session: int) -> list[TopicRow]:
        """The topics of a session, oldest first."""
        return [TopicRow(*row) for row in self._find(TOPIC, "topic", "ORDER BY id", session=session)]

    def add_topic(self, session: int, topic: TopicRow) -> None:
        """Add a topic."""
        self._insert("topic", session=session, **_cells(topic))

    def rename_topic(self, session: int, topic: int, name: str) -> None:
        """Give a topic another name."""
        self._change("topic", "name", name, session=session, id=topic)

    def event(self, session: int, seq: int) -> EventRow | None:
        """One event; None for 0, which stands for no event."""
        row = self._first(EVENT, "event", session=session, seq=seq)
        return _event(row) if row else None

    def events(self, session: int, limit: int | None = None, newest: bool = False) -> list[EventRow]:
        """Events in order of their number, or the newest first."""
        end = f"ORDER BY seq {'DESC' if newest else 'ASC'}" + ("" if limit is None else f" LIMIT {limit:d}")
        return [_event(row) for row in self._find(EVENT, "event", end, session=session)]

    def intents(self, session: int) -> list[EventRow]:
        """Every plan and extraction of a session, and every undo and redo, in order."""
        planned = "AND seq IN (SELECT seq FROM mark WHERE session = :session AND kind = 'plan') ORDER BY seq"
        return [_event(row) for row in self._find(EVENT, "event", planned, session=session)]

    def newest_intent(self, session: int) -> int:
        """The number of the newest of these events, 0 for none."""
        return self._last("seq", "mark", session=session, kind="plan")

    def last_event(self, session: int) -> int:
        """The number of the newest event, 0 for none."""
        return self._last("seq", "event", session=session)

    def add_event(self, session: int, event: EventRow) -> None:
        """Append an event."""
        cells = _cells(event) | {"cause": encode(event.cause), "json": encode(event.json)} | _cells(event.state)
        del cells["state"]
        self._insert("event", session=session, **cells)
        self.mark(session, event.kind, event.seq)

    def mark(self, session: int, kind: str, seq: int) -> None:
        """Note an event by its kind, where it is to be found so."""
        if kind in MARKS:
            self._insert("mark", session=session, kind=MARKS[kind], seq=seq)

    def revise(self, session: int, seq: int, revision: bytes) -> None:
        """Give an event another revision, after a redaction."""
        self._change("event", "revision", revision, session=session, seq=seq)


def _event(row: tuple[Any, ...]) -> EventRow:
    """The event of a row."""
    seq, head, prev, kind, decider, cause, json, time, *after = row
    return EventRow(seq, head, prev, kind, decider, decode(cause), decode(json), time, State(seq, *after))


class LogRows(_Tables):
    """Steps, records and their bytes."""

    def __init__(self, query: Query, search: SearchRows) -> None:
        super().__init__(query)
        self._search = search

    def _read_step(self, session: int, row: tuple[Any, ...]) -> Step:  # noqa: ARG002 - a past log reads it
        """The step of a row."""
        n, parent, lane, depth, is_open, *rest = row
        return Step(n, parent, lane, depth, bool(is_open), *rest)

    def step(self, session: int, n: int) -> Step | None:
        """One step."""
        row = self._first(STEP, "step", session=session, n=n)
        return self._read_step(session, row) if row else None

    def steps(self, session: int, numbers: Sequence[int] | None = None) -> list[Step]:
        """Steps by number, or all, in the order of their numbers. Raises CorruptStore: one of them is missing."""
        if numbers is None:
            return [self._read_step(session, row) for row in self._find(STEP, "step", "ORDER BY n", session=session)]
        sql = f"SELECT {STEP} FROM step WHERE session = :session AND n IN ({{}}) ORDER BY n"
        rows = self._among(sql, sorted(set(numbers)), session=session)
        if len(rows) != len(set(numbers)):
            raise damaged("the list of steps of this store")
        return [self._read_step(session, row) for row in rows]

    def write_step(self, session: int, step: Step) -> None:
        """Write a step that is new, was filled, or has more records."""
        self._query(PUT_STEP, **_cells(step) | {"session": session, "open": int(step.open)})

    def last_step(self, session: int) -> int:
        """The highest step number given out, 0 for none."""
        return self._last("n", "step", session=session)

    def path(self, session: int, tip: int) -> Path:
        """The lanes that lead to a step."""
        lane, depth = self._require("lane, depth", "step", session=session, n=tip) if tip else (0, 0)
        lanes: list[tuple[int, int]] = []
        while lane:
            lanes.append((lane, depth))
            lane, depth = self._require("parent, fork", "lane", session=session, id=lane)
        return tuple(lanes)

    def along(self, session: int, path: Path, low: int, high: int) -> list[Step]:
        """The steps of a path with depths in [low, high], in path order."""
        steps: list[Step] = []
        sql = f"SELECT {STEP} FROM step WHERE session = :session AND lane = :lane AND depth BETWEEN :low AND :high"
        for lane, depth in reversed(path):
            if depth >= low:
                ends = {"low": max(low, steps[-1].depth + 1 if steps else low), "high": min(depth, high)}
                rows = self._query(f"{sql} ORDER BY depth", session=session, lane=lane, **ends)
                steps += [self._read_step(session, row) for row in rows]
        if [step.depth for step in steps] != list(range(low, min(high, path[0][1] if path else 0) + 1)):
            raise damaged("a path of this store")
        return steps

    def add_lane(self, session: int, parent: int, fork: int) -> int:
        """Add a lane that leaves `parent` after depth `fork`; its number."""
        return self._append("lane", session, parent=parent, fork=fork)

    def place_taken(self, session: int, lane: int, depth: int) -> bool:
        """Whether a lane has a step at a depth already."""
        return self._first("n", "step", session=session, lane=lane, depth=depth) is not None

    def records(self, session: int, numbers: Sequence[int], late: bool = False) -> list[StoredRecord]:
        """The records of steps in order; with `late`, those shown under these steps though they belong to others."""
        where = "at IN ({}) AND at <> step ORDER BY at, id" if late else "step IN ({}) ORDER BY step, k"
        sql = f"SELECT {RECORD} FROM record WHERE session = :session AND {where}"
        return [StoredRecord(*row) for row in self._among(sql, sorted(set(numbers)), session=session)]

    def record_by_id(self, record: int) -> StoredRecord | None:
        """One record by its row id."""
        row = self._first(RECORD, "record", id=record)
        return StoredRecord(*row) if row else None

    def entries_of(self, session: int, named: Sequence[str] | None = None) -> list[StoredRecord]:
        """All records of a session, oldest first.

        With `named`: those with one of these keys or call ids, and those with a key that a redaction masked.
        """
        if named is None:
            return [StoredRecord(*row) for row in self._find(RECORD, "record", "ORDER BY id", session=session)]
        rows = self._find(RECORD, "record", "AND idempotency LIKE '%*%'", session=session)
        for column in ("idempotency", "call_id"):
            sql = f"SELECT {RECORD} FROM record WHERE session = :session AND {column} IN ({{}})"
            rows += self._among(sql, named, session=session)
        return [StoredRecord(*row) for row in sorted(set(rows))]

    def longer(self, scope: Scope, size: int) -> list[StoredRecord]:
        """The records of more bytes than that, newest first."""
        long = "AND (SELECT size FROM entry WHERE entry.id = record.entry) > :size ORDER BY id DESC"
        rows = self._query(f"SELECT {RECORD} FROM record WHERE {within(scope)} {long}", scope=scope, size=size)
        return [StoredRecord(*row) for row in rows]

    def first_words(self, session: int) -> str:
        """The first message of the user; empty if there is none."""
        row = self._find("entry", "record", "ORDER BY step, k LIMIT 1", session=session, kind="user")
        return self.text(row[0][0]) if row else ""

    def steps_with(self, session: int, kind: str, path: Path, high: int, limit: int) -> list[int]:
        """The newest steps of a path, up to a depth, with a record of a kind, `user` or `note`; newest first."""
        numbers: list[int] = []
        n = next((step.n for step in self.along(session, path, high, high)), 0)
        while n and len(numbers) < limit and (nearest := self._last(NEAREST[kind], "step", session=session, n=n)):
            numbers.append(nearest)
            n = self._last("parent", "step", session=session, n=nearest)
        return numbers

    def text(self, entry: int) -> str:
        """The exact text of an entry. Raises CorruptStore: it is missing, or its bytes do not match their hash."""
        body, name = self._require("bytes, hash", "entry", id=entry)
        raw = unpack(body)
        if digest(raw) != name:
            raise damaged("an entry of this store")
        return decode(raw)

    def entry_hash(self, entry: int) -> bytes:
        """The content hash of an entry, 16 bytes."""
        return bytes(self._require("hash", "entry", id=entry)[0])

    def add_entry(self, text: str) -> int:
        """Keep a text, once however often it is said; its row id."""
        raw = encode(text)
        name = digest(raw)
        row = self._first("id", "entry", hash=name)
        if row is None:
            (row,) = self._insert("entry", "RETURNING id", hash=name, size=len(raw), bytes=pack(raw))
        return int(row[0])

    def add_record(
        self, session: int, record: Record, entry: int, shown: int | None, form: bytes, idempotency: str | None
    ) -> None:
        """Keep a record. It can be searched from here on."""
        ((made,),) = self._insert(
            "record", "RETURNING id", session=session, step=record.step, k=record.k, at=record.at or record.step,
            kind=record.kind, origin=record.origin, call_id=record.call_id, entry=entry, shown=shown, form=form,
            idempotency=idempotency,
        )  # fmt: skip
        self._search.add(made, record.text)


class SessionsRows(_Tables):
    """Sessions by name."""

    def named(self, name: str) -> SessionRow | None:
        """The session of that name."""
        row = self._first(f"id, name, created, {UPDATED}, current", "session", name=name)
        return SessionRow(*row) if row else None

    def name(self, session: int) -> str:
        """The name of a session."""
        return str(self._value("name", "session", id=session))

    def names(self) -> list[str]:
        """Every session's name, the newest work first."""
        rows = self._query(f"SELECT name, {UPDATED} FROM session ORDER BY updated DESC, id DESC")
        return [name for name, _ in rows]

    def add(self, name: str, created: float) -> SessionRow:
        """Begin an empty session. Its number was never that of another, deleted ones included."""
        ((number,),) = self._insert("session", "RETURNING id", name=name, created=float(created))
        return SessionRow(number, name, created, created, 0)

    def newest(self, session: int) -> tuple[int, int] | None:
        """The numbers of its newest event and newest redaction, 0 for none; None for an unknown session."""
        if self._first("id", "session", id=session) is None:
            return None
        redacted = self._last("seq", "mark", session=session, kind="redaction")
        return self._last("seq", "event", session=session), redacted

    def change(self, session: int, column: Literal["name", "current", "budget"], value: object) -> None:
        """Give a session another name, another branch for new handles, or another budget of its views."""
        self._change("session", column, value, id=session)

    def budget(self, session: int) -> int:
        """The tokens of its views where the caller names none, 0 while nobody set them."""
        return self._last("budget", "session", id=session)

    def raw_bytes(self, session: int) -> int:
        """Bytes of a session's raw records."""
        return self._find("sum(size)", "record JOIN entry ON entry.id = record.entry", session=session)[0][0] or 0


class Reading(_Tables):
    """A consistent snapshot of the store. A row that is missing or does not read back raises CorruptStore."""

    def __init__(self, query: Query) -> None:
        super().__init__(query)
        self.sessions = SessionsRows(query)
        self.forest = ForestRows(query)
        self.cover = CoverRows(query)
        self.search = SearchRows(query)
        self.log = LogRows(query, self.search)

    def list_rows(self, table: str, columns: str, session: int) -> list[tuple[Any, ...]]:
        """Some columns of all rows of a session, in the order of their numbers."""
        return self._find(columns, table, f"ORDER BY {KEYS[table]}", session=session)

    def read_rows(self, table: str, session: int, number: int) -> list[dict[str, Any]]:
        """The rows of a session with a number, as JSON, an entry by its text. Records also have their row id.

        Raises CorruptStore: one is missing, or does not read back.
        """
        columns = [*(["id"] if table == "record" else []), *COLUMNS[table]]
        rows = self._find(", ".join(columns), table, "", session=session, **{KEYS[table]: number})
        if not rows and table != "record":
            raise damaged(f"{table} {number} of this store")
        return [self._to_json(dict(zip(columns, row, strict=True))) for row in rows]

    def _to_json(self, cells: dict[str, Any]) -> dict[str, Any]:
        """Cells as an export holds them: bytes as text or JSON, an entry by its text."""
        if "entry" in cells:
            shown = cells["shown"]
            cells |= {"entry": self.log.text(cells["entry"]), "shown": None if shown is None else self.log.text(shown)}
        return cells | {name: CODECS[name][0](cells[name]) for name in CODECS.keys() & cells.keys()}

    def last_row(self, table: str, session: int) -> int:
        """The highest number of a session's rows, 0 for none."""
        return self._last(KEYS[table], table, session=session)

    def is_scrub_due(self) -> bool:
        """Whether bytes of something that was removed may still be in the file."""
        return bool(self._query("SELECT 1 FROM unscrubbed LIMIT 1"))


class Writing(Reading):
    """The exclusive right to write, until it commits. Only within it may methods that change rows be called."""

    def write_row(self, table: str, session: int, row: dict[str, Any]) -> None:
        """Add a row as `read_rows` gave it, without a record's id. Raises LookupError, ValueError: another table, other
        columns.
        """
        if row.keys() != set(COLUMNS[table]):
            raise ValueError(f"other columns than those of a {table}")
        cells = row | {name: CODECS[name][1](row[name]) for name in CODECS.keys() & row.keys()}
        if table == "record":
            shown = None if row["shown"] is None else self.log.add_entry(row["shown"])
            cells |= {"entry": self.log.add_entry(row["entry"]), "shown": shown}
            self.search.add(self._insert(table, "RETURNING id", session=session, **cells)[0][0], row["entry"])
            return
        self._insert(table, session=session, **cells)
        if table == "event":
            self.forest.mark(session, row["kind"], row["seq"])

    def drop(self, session: int) -> None:
        """Remove a session. Its rows are nobody's from here on, and go with the next sweeps; a scrub is due."""
        self._query("INSERT INTO unscrubbed DEFAULT VALUES")
        self._query("DELETE FROM session WHERE id = :session", session=session)

    def sweep(self) -> bool:
        """Remove some rows of dropped sessions, so few that a full disk can take the change. False: none are left."""
        nobodys = "session NOT IN (SELECT id FROM session)"
        rows = self._query(f"SELECT id, entry, shown FROM record WHERE {nobodys} ORDER BY id LIMIT {_SWEPT}")
        self._remove(rows)
        for table in [] if rows else OWNED:
            self._query(f"DELETE FROM {table} WHERE {nobodys}")
        return bool(rows)

    def clear(self, session: int) -> None:
        """Remove all of a session but its name and number, to write it anew. A scrub is due from here on."""
        self._query("INSERT INTO unscrubbed DEFAULT VALUES")
        self._remove(self._query("SELECT id, entry, shown FROM record WHERE session = :s ORDER BY id", s=session))
        for table in OWNED:
            self._query(f"DELETE FROM {table} WHERE session = :session", session=session)

    def _remove(self, records: Sequence[tuple[int, int, int | None]]) -> None:
        """Remove records, given with their entries, and the entries that no other record uses."""
        for record, entry, _ in records:
            with suppress(CorruptStore):  # a text that does not read back has no words to take out
                self.search.remove(record, self.log.text(entry))
        used = "SELECT entry FROM record UNION SELECT shown FROM record WHERE shown IS NOT NULL"
        for sql, numbers in (
            ("DELETE FROM record WHERE id IN ({})", [record for record, _, _ in records]),
            (f"DELETE FROM entry WHERE id IN ({{}}) AND id NOT IN ({used})", [e for _, *own in records for e in own]),
        ):
            self._among(sql, numbers)
