"""Reads the log for the deciders: records as words and lines, and the calls of a path with their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxfold.decisions.fold.settings import FoldSettings
from ctxfold.decisions.intent.triggers import holds_name
from ctxfold.decisions.intent.values import Source
from ctxfold.decisions.refactor.repetition import call_of
from ctxfold.decisions.refactor.values import Call, Case
from ctxfold.errors import RefError
from ctxfold.log.lines import text_of
from ctxfold.log.page import page_of
from ctxfold.log.refs import RecordRef, parse_ref
from ctxfold.session.history.load import lines_at
from ctxfold.session.search import ranked
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import StoredRecord
from ctxfold.text import is_common
from ctxfold.workspace.workspace import Workspace

__all__ = ["Place", "Sources", "Trail", "end_of", "log_of"]

Place = tuple[int, int]
"""Where a record stands: its step, and its place in that."""
_LINE_END = "\\n"
"""Stands in the JSON of a call that brings text over several lines: it is more than the question its result answers."""
_LOOKED = 12
_QUERY = 300


def end_of(tx: Reading, session: int, tip: int) -> Place:
    """The last record of a path that ends with a step."""
    return (tip, max((record.k for record in tx.log.records(session, [tip])), default=0)) if tip else (0, 0)


@dataclass(frozen=True)
class Sources:
    """The log of a session, as plans and extractions read it."""

    tx: Reading
    session: int

    def of(self, step: int) -> list[Source]:
        """The records of a step in order."""
        return [self._source(record) for record in self.tx.log.records(self.session, [step])] if step else []

    def quoting(self, text: str) -> Source | None:
        """A record that holds a text, one of the user's before others, those of tools and pages before the assistant's."""
        plain, found = " ".join(text.split()).casefold(), list[tuple[int, StoredRecord]]()
        for row, _ in self.tx.search.ranked(self.session, plain[:_QUERY], _LOOKED):
            record = self.tx.log.record_by_id(row)
            if record is not None and plain in " ".join(self.tx.log.text(record.entry).split()).casefold():
                found.append(
                    (("user", "result").index(record.kind) if record.kind in ("user", "result") else 2, record)
                )
        return self._source(min(found, key=lambda each: (each[0], each[1].id))[1]) if found else None

    def found(self, queries: Sequence[str], most: int, *, whole: bool) -> list[Source]:
        """Results, notes and telling calls that hold words of any query, the newest first. A query may bring `most`; to read long records `whole` takes some tenths of a second for tens of megabytes."""
        rows: dict[int, StoredRecord] = {}
        for asked in queries:
            telling = " ".join(word for word in asked.split() if not is_common(word.strip(".,:;!?"))) or asked
            hits = (
                ranked(self.tx, self.session, telling, most)
                if whole
                else self.tx.search.ranked(self.session, telling, most)
            )
            for row, _ in hits:
                record = self.tx.log.record_by_id(row)
                if record is not None and record.kind in ("result", "call", "note"):
                    rows[row] = record
        newest = sorted(rows.values(), key=lambda record: -record.id)[: 2 * most]
        sources = [self._source(record) for record in newest]
        return [source for source in sources if source.kind != "call" or _LINE_END in source.text]

    def holds(self, name: str, upto: Place) -> bool:
        """Whether a record up to a place, said by no user, holds a value."""
        for row in self.tx.search.holding(self.session, name, _LOOKED):
            record = self.tx.log.record_by_id(row)
            if record is None or record.kind == "user" or (record.step, record.k) > upto:
                continue
            if holds_name(self.tx.log.text(record.entry), name):
                return True
        return False

    def _source(self, record: StoredRecord) -> Source:
        text = self.tx.log.text(record.entry)
        return Source(record.step, record.k, record.kind, text, record.origin in ("tool", "page"))


_CHUNK = 256
_GROWING = 2
"""Steps at the end of a path that may still take records."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a step shows: its calls, whether the user spoke in it, and the notes a model wrote in it."""

    calls: tuple[Call, ...] = ()
    spoken: bool = False
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Trail:
    """What was read of a session's steps so far, and which of them may have taken records since."""

    seen: dict[int, _Seen] = field(default_factory=dict)
    growing: set[int] = field(default_factory=set)

    def case(
        self, tx: Reading, session: int, workspace: Workspace, budget: int, settings: FoldSettings, named: bool = False
    ) -> Case:
        """A workspace with the evidence of the steps that stand in it. It may read through `tx` as long as that is open."""
        steps = [step for block in workspace.blocks for step in block.steps]
        self._read(tx, session, steps)
        seen = [(step, self.seen[step]) for step in steps]
        return Case(
            workspace,
            tuple(call for _, each in seen for call in each.calls),
            frozenset(step for step, each in seen if each.spoken),
            budget,
            settings,
            tx.cover.next_tile(session),
            frozenset(note for _, each in seen for note in each.notes),
            named,
            lambda: log_of(tx, session, steps),
            lambda ref: _text(tx, session, ref),
        )

    def _read(self, tx: Reading, session: int, steps: Sequence[int]) -> None:
        """Read the steps that are new, those that may have grown, and those that late results came to."""
        fresh = {step for step in steps if step not in self.seen} | self.growing.intersection(steps)
        self.growing |= set(steps[-_GROWING:])
        wanted = sorted(fresh)
        for at in range(0, len(wanted), _CHUNK):
            fresh |= {record.step for record in tx.log.records(session, wanted[at : at + _CHUNK], late=True)}
        wanted = sorted(fresh)
        for at in range(0, len(wanted), _CHUNK):
            part = wanted[at : at + _CHUNK]
            by_step: dict[int, list[StoredRecord]] = {step: [] for step in part}
            for record in tx.log.records(session, part):
                by_step[record.step].append(record)
            self.seen.update((step, _seen(tx, found)) for step, found in by_step.items())
        self.growing -= set(steps[:-_GROWING])


def _seen(tx: Reading, records: Sequence[StoredRecord]) -> _Seen:
    """What the records of a step show; each call with its first result."""
    results: dict[str | None, list[StoredRecord]] = {}
    for record in records:
        if record.kind == "result":
            results.setdefault(record.call_id, []).append(record)
    calls: list[Call] = []
    for record in records:
        if record.kind == "call":
            came = results.get(record.call_id, [])
            result = came.pop(0) if came else None
            text = None if result is None else tx.log.text(result.entry)
            page = result is not None and result.origin == "page"
            calls.append(call_of(record.step, tx.log.text(record.entry), text, page))
    notes = tuple(f"s{each.step}.{each.k}" for each in records if each.kind == "note" and each.origin == "model")
    return _Seen(tuple(calls), any(record.kind == "user" for record in records), notes)


def log_of(tx: Reading, session: int, steps: Sequence[int]) -> list[str]:
    """Every record of some steps, and of late results that stand there: its exact text; of a page its reading form too, of a call its line."""
    parts: list[str] = []
    for at in range(0, len(steps), _CHUNK):
        found = {
            record.id: record
            for late in (False, True)
            for record in tx.log.records(session, steps[at : at + _CHUNK], late=late)
        }
        for record in found.values():
            parts.append(tx.log.text(record.entry))
            parts += filter(None, [page_of(parts[-1], record.origin)])
            if record.shown is not None or record.kind == "call":
                parts.append(text_of(lines_at(tx, record)))
    return parts


def _text(tx: Reading, session: int, ref: str) -> str:
    """The exact text of a record; empty where there is none."""
    try:
        named = parse_ref(ref)
    except RefError:
        return ""
    if not isinstance(named, RecordRef):
        return ""
    found = [record for record in tx.log.records(session, [named.step]) if record.k == named.record]
    return tx.log.text(found[0].entry) if found else ""
