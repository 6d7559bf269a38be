"""The frozen values of rows that a session and its store exchange."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EventRow", "HeadRow", "Path", "SessionRow", "State", "StoredRecord", "TopicRow"]

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
