"""The tables of a store in one SQL that SQLite and PostgreSQL read, and a class for each kind of row."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ctxfold.log import Step
from ctxfold.store.codec import decode, encode, pack_json, unpack_json

TABLES = """
CREATE TABLE session (
  id {lasting_id}, name TEXT NOT NULL UNIQUE, created DOUBLE PRECISION NOT NULL, current INTEGER NOT NULL DEFAULT 0,
  budget INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE unscrubbed (id {lasting_id});
CREATE TABLE entry (id {id}, hash BYTEA NOT NULL UNIQUE, size INTEGER NOT NULL, bytes BYTEA NOT NULL);
CREATE TABLE lane (
  session INTEGER NOT NULL, id INTEGER NOT NULL, parent INTEGER NOT NULL, fork INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) {clustered};
CREATE TABLE step (
  session INTEGER NOT NULL, n INTEGER NOT NULL, parent INTEGER NOT NULL, lane INTEGER NOT NULL, depth INTEGER NOT NULL,
  open INTEGER NOT NULL, tokens INTEGER NOT NULL, raw INTEGER NOT NULL, upto INTEGER NOT NULL,
  raw_upto INTEGER NOT NULL, time DOUBLE PRECISION NOT NULL, words INTEGER NOT NULL, noted INTEGER NOT NULL,
  PRIMARY KEY (session, n)
) {clustered};
CREATE UNIQUE INDEX step_place ON step (session, lane, depth);
CREATE TABLE record (
  id {id}, session INTEGER NOT NULL, step INTEGER NOT NULL, k INTEGER NOT NULL, at INTEGER NOT NULL,
  kind TEXT NOT NULL, origin TEXT NOT NULL, call_id TEXT, entry INTEGER NOT NULL REFERENCES entry (id), shown INTEGER,
  form BYTEA NOT NULL, idempotency TEXT
);
CREATE UNIQUE INDEX record_place ON record (session, step, k);
CREATE INDEX record_late ON record (session, at) WHERE at <> step;
CREATE UNIQUE INDEX record_once ON record (session, step, idempotency) WHERE idempotency IS NOT NULL;
CREATE TABLE head (
  session INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, topic INTEGER NOT NULL, seq INTEGER NOT NULL,
  created DOUBLE PRECISION NOT NULL, PRIMARY KEY (session, id)
) {clustered};
CREATE UNIQUE INDEX head_name ON head (session, name);
CREATE TABLE topic (
  session INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (session, id)
) {clustered};
CREATE TABLE event (
  session INTEGER NOT NULL, seq INTEGER NOT NULL, head INTEGER NOT NULL, prev INTEGER NOT NULL, kind TEXT NOT NULL,
  decider TEXT NOT NULL, cause BYTEA NOT NULL, json BYTEA NOT NULL, time DOUBLE PRECISION NOT NULL,
  revision BYTEA NOT NULL, tip INTEGER NOT NULL, cover INTEGER NOT NULL, notes INTEGER NOT NULL,
  decision INTEGER NOT NULL, undone INTEGER NOT NULL, intent INTEGER NOT NULL, guide INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) {clustered};
CREATE TABLE mark (
  session INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (session, kind, seq)
) {clustered};
CREATE TABLE tile (
  session INTEGER NOT NULL, id INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  tokens INTEGER NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (session, id)
) {clustered};
CREATE TABLE cell (
  session INTEGER NOT NULL, id INTEGER NOT NULL, prev INTEGER NOT NULL, tile INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) {clustered};
CREATE TABLE note (
  session INTEGER NOT NULL, id INTEGER NOT NULL, prev INTEGER NOT NULL, slot TEXT NOT NULL, text BYTEA NOT NULL,
  PRIMARY KEY (session, id)
) {clustered};
"""
"""Each adapter fills in its words for `id` (a row number), `lasting_id` (one that is never given twice, so that a
handle on a deleted session meets no other) and `clustered` (rows kept in the order of their key).

`step.words` and `step.noted` name the nearest step back, itself included, with words of the user and with a note.
`mark` lists the events that plans and redactions are found by: a search by kind would read every event of a session.
`unscrubbed` has a row for each removal until its bytes are taken out of the file.
"""

OWNED = re.findall(r"CREATE TABLE (\w+) \([^;]*session INTEGER", TABLES)
"""The tables with rows of one session."""
KEYS = {
    "topic": "id", "lane": "id", "step": "n", "record": "step", "tile": "id", "cell": "id", "note": "id",
    "event": "seq", "head": "id",
}  # fmt: skip
"""The tables that make up a session, each after those that it refers to, with the column of a row's number.

Numbers count from 1; all records of a step have its number.
"""
COLUMNS = {
    table: re.findall(r"(\w+) (?:INTEGER|TEXT|BYTEA|DOUBLE)", columns)[1:]
    for table, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)\)[^()]*;", TABLES, re.DOTALL)
}
"""The columns of the tables of a session but for the session itself."""
_TEXT, _JSON = (decode, encode), (unpack_json, pack_json)
CODECS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    **dict.fromkeys(("cause", "json", "text"), _TEXT),
    **dict.fromkeys(("form", "body"), _JSON),
    "revision": (bytes.hex, bytes.fromhex),
}
"""How columns of bytes become JSON, and how JSON becomes them."""
Path = tuple[tuple[int, int], ...]
"""A path as (lane, depth) pairs, newest lane first: of each lane the steps up to that depth. Empty before step 1."""


class SessionRow(NamedTuple):
    """A session: its row id, name, times (seconds since 1970) and the branch a new handle starts on."""

    id: int
    name: str
    created: float
    updated: float
    current: int


@dataclass(frozen=True, slots=True)
class State:
    """A revision: a branch after one event.

    Attributes:
        seq: the event.
        revision: its content hash, 16 bytes.
        tip: the last step of the path, 0 before the first.
        cover: the newest cell of the cover, 0 for none; steps that no cell covers are raw.
        notes: the newest note, 0 for none.
        decision: the newest decision in force, 0 for none.
        undone: the last undo that may be redone, 0 for none.
        intent: the newest plan or extraction in force, 0 for none.
        guide: the newest refactoring in force, 0 for none.
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


class TopicRow(NamedTuple):
    """A root of the forest."""

    id: int
    name: str


class EventRow(NamedTuple):
    """One committed event: `head` is its branch, `prev` the event before it there, `state` the branch after it."""

    seq: int
    head: int
    prev: int
    kind: str
    decider: str
    cause: str
    json: str
    time: float
    state: State


class StoredRecord(NamedTuple):
    """A record as it is kept: `entry` and `shown` name raw bytes, `form` is its packed lines."""

    id: int
    session: int
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


def _columns(kind: Any) -> str:
    """The fields of a row class, as SQL lists columns."""
    return ", ".join(kind.__annotations__)


STEP, RECORD, HEAD, TOPIC = map(_columns, (Step, StoredRecord, HeadRow, TopicRow))
EVENT = f"{_columns(EventRow).removesuffix(', state')}, {_columns(State).removeprefix('seq, ')}"
UPDATED = (
    "coalesce((SELECT time FROM event WHERE event.session = session.id ORDER BY seq DESC LIMIT 1), created) AS updated"
)
MARKS = {"intent_set": "plan", "read": "plan", "extracted": "plan", "voided": "plan", "redacted": "redaction"}
"""The kinds of events that are marked, and as what."""
NEAREST = {"user": "words", "note": "noted"}
"""By the kind of a record, the column of `step` that leads to the nearest step with one."""


def _find_nearest(kind: str) -> str:
    """SQL for the nearest step back with a record of a kind: the step itself, else the one that its parent names."""
    own = f"SELECT step FROM record WHERE session = :session AND step = :n AND kind = '{kind}' LIMIT 1"
    above = f"SELECT {NEAREST[kind]} FROM step WHERE session = :session AND n = :parent"
    return f"coalesce(({own}), ({above}), 0)"


PUT_STEP = (
    f"INSERT INTO step (session, {STEP}, words, noted) VALUES (:session, :{STEP.replace(', ', ', :')},"
    f" {_find_nearest('user')}, {_find_nearest('note')}) ON CONFLICT (session, n) DO UPDATE SET open = excluded.open,"
    " tokens = excluded.tokens, raw = excluded.raw, upto = excluded.upto, raw_upto = excluded.raw_upto,"
    " words = excluded.words, noted = excluded.noted"
)
