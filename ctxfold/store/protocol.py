"""The protocol between sessions and a database: one class for each kind of row, snapshots to read, one transaction to write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ctxfold.log.records import Record, Step
from ctxfold.store.values import EventRow, HeadRow, Path, SessionRow, StoredRecord, TopicRow

__all__ = ["Cover", "Forest", "Log", "Reading", "Search", "Sessions", "Store", "Writing"]


class Sessions(Protocol):
    """Sessions by name."""

    def named(self, name: str) -> SessionRow | None:
        """The session of that name."""

    def names(self) -> list[str]:
        """Every session's name, the newest work first."""

    def add(self, name: str, created: float) -> SessionRow:
        """A new, empty session. Its number was never that of another, one that was dropped included."""

    def newest(self, session: int) -> tuple[int, int] | None:
        """The numbers of its newest event and of its newest redaction, 0 for none; None when there is no such session."""

    def settle(self, session: int, current: int) -> None:
        """Note the branch that new handles start on."""

    def rename(self, session: int, name: str) -> None:
        """Give a session another name: for redaction alone."""

    def budget(self, session: int) -> int:
        """The tokens of its views where none are said, 0 while nobody said."""

    def keep_budget(self, session: int, budget: int) -> None:
        """Note the tokens of its views where none are said."""

    def drop(self, session: int) -> None:
        """Remove a session and whatever only it referenced."""

    def raw_bytes(self, session: int) -> int:
        """Bytes of a session's raw records."""


class Forest(Protocol):
    """Branches, topics and events."""

    def heads(self, session: int) -> list[HeadRow]:
        """The branches of a session, oldest first."""

    def add_head(self, session: int, head: HeadRow) -> None:
        """A new branch."""

    def move_head(self, session: int, head: int, seq: int) -> None:
        """Let a branch stand at an event."""

    def rename_head(self, session: int, head: int, name: str) -> None:
        """Give a branch another name."""

    def topics(self, session: int) -> list[TopicRow]:
        """The topics of a session, oldest first."""

    def add_topic(self, session: int, topic: TopicRow) -> None:
        """A new topic."""

    def rename_topic(self, session: int, topic: int, name: str) -> None:
        """Give a topic another name."""

    def event(self, session: int, seq: int) -> EventRow | None:
        """One event."""

    def events(self, session: int, after: int = 0, limit: int | None = None, newest: bool = False) -> list[EventRow]:
        """Events in order of their number, or the newest first."""

    def intents(self, session: int) -> list[EventRow]:
        """Every plan of a session, and every undo and redo, in order."""

    def newest_intent(self, session: int) -> int:
        """The number of the newest of these events, 0 for none."""

    def last_event(self, session: int) -> int:
        """The number of the newest event, 0 for none."""

    def add_event(self, session: int, event: EventRow) -> None:
        """Append an event."""

    def replace_event(self, session: int, event: EventRow) -> None:
        """Rewrite an event in place: for redaction alone."""


class Log(Protocol):
    """Steps, records and their bytes."""

    def step(self, session: int, n: int) -> Step | None:
        """One step."""

    def steps(self, session: int, numbers: Sequence[int]) -> list[Step]:
        """Steps by number, in the order of their numbers. Each of them is there."""

    def add_step(self, session: int, step: Step) -> None:
        """A new step."""

    def replace_step(self, session: int, step: Step) -> None:
        """A step that was filled, or whose records grew."""

    def recount(self, session: int) -> None:
        """Count what each step holds anew: for import alone, which keeps steps before their records."""

    def last_step(self, session: int) -> int:
        """The highest step number given out, 0 for none."""

    def path(self, session: int, tip: int) -> Path:
        """The lanes that lead to a step."""

    def path_to(self, session: int, lane: int, depth: int) -> Path:
        """The lanes that lead to a place, whether or not a step stands there yet."""

    def along(self, session: int, path: Path, low: int, high: int) -> list[Step]:
        """The steps of a path with depths in [low, high], in path order."""

    def add_lane(self, session: int, parent: int, fork: int) -> int:
        """A new lane that leaves `parent` after depth `fork`; its number."""

    def put_lane(self, session: int, lane: int, parent: int, fork: int) -> None:
        """A lane under its own number: for import alone."""

    def lanes(self, session: int) -> list[tuple[int, int, int]]:
        """Every lane of a session as (number, parent, fork)."""

    def place_taken(self, session: int, lane: int, depth: int) -> bool:
        """Whether a step stands at that place already."""

    def records(self, session: int, numbers: Sequence[int], late: bool = False) -> list[StoredRecord]:
        """The records of steps, in order; with `late`, those shown under these steps though they belong to others."""

    def record_by_id(self, record: int) -> StoredRecord | None:
        """One record by its row id."""

    def entries_of(self, session: int) -> Iterable[StoredRecord]:
        """All records of a session, oldest first."""

    def longer(self, session: int, size: int) -> list[StoredRecord]:
        """The records of more bytes than that, newest first."""

    def steps_with(self, session: int, kind: str, path: Path, high: int, limit: int) -> list[int]:
        """The newest steps of a path, up to a depth, that hold a record of a kind, `user` or `note`; newest first."""

    def text(self, entry: int) -> str:
        """The exact text of an entry."""

    def entry_hash(self, entry: int) -> bytes:
        """The content hash of an entry, 16 bytes."""

    def add_entry(self, text: str) -> int:
        """Keep a text, once however often it is said; its row id."""

    def add_record(
        self, session: int, record: Record, entry: int, shown: int | None, form: bytes, idempotency: str | None
    ) -> int:
        """Keep a record; its row id. It can be searched from here on."""

    def blank(self, record: StoredRecord, text: str, form: bytes) -> None:
        """Put another text in place of a record's, and drop what was derived from the old one."""

    def rename(self, session: int, record: StoredRecord, call_id: str | None, idempotency: str | None) -> None:
        """Give a record another call id and idempotency key: for redaction alone."""

    def sweep(self) -> None:
        """Drop the bytes of entries that no record holds any more. A scrub is due then, until one is done."""


class Cover(Protocol):
    """Tiles, the cells of covers, and notes."""

    def tile(self, session: int, tile: int) -> bytes | None:
        """The body of a folded tile; empty where it is not what was written."""

    def tile_end(self, session: int, tile: int) -> int | None:
        """The last step, in path order, of a folded tile."""

    def tile_numbers(self, session: int) -> list[int]:
        """Every tile of a session."""

    def next_tile(self, session: int) -> int:
        """A tile number never used in this session."""

    def add_tile(self, session: int, tile: int, first: int, last: int, tokens: int, body: bytes) -> None:
        """Keep a folded tile."""

    def replace_tile(self, session: int, tile: int, body: bytes) -> None:
        """Rewrite a tile's body: for redaction alone."""

    def cell(self, session: int, cell: int) -> tuple[int, int]:
        """A cell of a cover: the cell before it and its tile."""

    def cells(self, session: int) -> list[tuple[int, int, int]]:
        """Every cell of a session as (number, the one before, tile)."""

    def add_cell(self, session: int, prev: int, tile: int) -> int:
        """A cell after another; its number."""

    def put_cell(self, session: int, cell: int, prev: int, tile: int) -> None:
        """A cell under its own number: for import alone."""

    def notes(self, session: int, note: int) -> list[tuple[str, str]]:
        """The notes that lead to a root, oldest first, as (slot, text)."""

    def note_rows(self, session: int) -> list[tuple[int, str]]:
        """Every note of a session as (number, text)."""

    def note_links(self, session: int) -> list[tuple[int, int, str, str]]:
        """Every note of a session as (number, the one before, slot, text)."""

    def add_note(self, session: int, prev: int, slot: str, text: str) -> int:
        """A note after another; its number."""

    def put_note(self, session: int, note: int, prev: int, slot: str, text: str) -> None:
        """A note under its own number: for import alone."""

    def replace_note(self, session: int, note: int, text: str) -> None:
        """Rewrite a note's text: for redaction alone."""


class Search(Protocol):
    """The words of records, which can be indexed anew."""

    def ranked(self, session: int, query: str, limit: int) -> list[tuple[int, float]]:
        """Records that hold the words, best first, with a score that grows with fit."""

    def holding(self, session: int, name: str, limit: int) -> list[int]:
        """Records that hold every word of a name, newest first."""


class Reading(Protocol):
    """A consistent snapshot of the store.

    Reading a row that is not what was written raises CorruptStore. A tile's body, which the log may make anew, is empty then.
    """

    @property
    def sessions(self) -> Sessions:
        """Sessions by name."""

    @property
    def forest(self) -> Forest:
        """Branches, topics and events."""

    @property
    def log(self) -> Log:
        """Steps, records and their bytes."""

    @property
    def cover(self) -> Cover:
        """Tiles, cells and notes."""

    @property
    def search(self) -> Search:
        """Full-text search."""


class Writing(Reading, Protocol):
    """The exclusive right to write, until it commits. Only within it may what changes rows be called."""


class Store(Protocol):
    """Where sessions are kept."""

    address: str

    def reading(self) -> AbstractContextManager[Reading]:
        """A snapshot for the length of the block."""

    def writing(self) -> AbstractContextManager[Writing]:
        """The right to write for the length of the block; committed at its end, undone on any exception."""

    def scrub(self) -> None:
        """Let nothing that was removed remain in the file. Raises StoreError when that must wait: it stays due."""

    def finish(self) -> bool:
        """Scrub where that is due. Returns whether it is not due any more; where it must wait longer, nothing is raised."""

    def close(self) -> None:
        """Finish what can be finished, and give up every resource. Closing twice is harmless."""
