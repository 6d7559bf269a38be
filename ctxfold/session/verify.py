"""Replays a session's events, and compares the rows that they make with the stored ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ctxfold.errors import CorruptStore
from ctxfold.session.commits import GENESIS, compute_revision
from ctxfold.session.load import hash_tile, read_tile, split_cover
from ctxfold.session.record import material_of
from ctxfold.store.codec import decode, encode, unpack
from ctxfold.store.rows import Reading
from ctxfold.store.tables import EventRow, State


def verify(tx: Reading, session: int) -> int:
    """Replay a session's events; how many there are.

    Raises:
        CorruptStore: an event does not give its revision, or the steps, records, branches, notes or covers that are
            stored are not those that the events made.
    """
    expected = _ExpectedRows(tx, session)
    states = {0: GENESIS}
    try:
        for number, event in enumerate(tx.forest.events(session), 1):
            before = states[event.prev]
            if event.seq != number or replay(tx, session, event, before.revision) != event.state.revision:
                raise ValueError("another revision")
            expected.add(event, json.loads(event.json), before)
            states[number] = event.state
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CorruptStore(
            f"event {len(states)} does not replay to its revision; restore a copy of the store"
        ) from error
    differing = next((what for what, is_same in expected.compare() if not is_same), None)
    if differing is not None:
        raise CorruptStore(f"the {differing} of this session differ from its events; restore a copy of the store")
    return len(states) - 1


def replay(tx: Reading, session: int, event: EventRow, before: bytes) -> bytes:
    """The revision that an event makes of the revision before it, from the content that is stored."""
    payload: dict[str, Any] = json.loads(event.json)
    material: list[bytes] = []
    if event.kind in ("recorded", "arrived"):
        numbers = payload["records"] if event.kind == "recorded" else [payload["record"]]
        records = [record for record in tx.log.records(session, [payload["step"]]) if record.k in numbers]
        for record in sorted(records, key=lambda record: record.id):
            shown = None if record.shown is None else tx.log.entry_hash(record.shown)
            who = (record.kind, record.origin, record.call_id)
            material += material_of(who, tx.log.entry_hash(record.entry), shown, decode(unpack(record.form)))
    material += [hash_tile(tx, session, tile) for tile in _tiles_of(payload)]
    return compute_revision(before, event.kind, payload, material, event.state)


def _tiles_of(payload: dict[str, Any]) -> list[int]:
    """The tiles that an event put in place."""
    return [payload["tile"]] if "tile" in payload else payload.get("tiles", [])


class _ExpectedRows:
    """The rows that a session's events make."""

    def __init__(self, tx: Reading, session: int) -> None:
        self._tx, self._session = tx, session
        self._heads: dict[int, int] = {1: 0}
        self._steps: dict[int, tuple[int, bool]] = {0: (0, False)}
        self._records: dict[tuple[int, int], int] = {}
        self._notes: list[tuple[int, int, str, bytes]] = []
        self._cells: list[tuple[int, int, int]] = []

    def add(self, event: EventRow, payload: dict[str, Any], before: State) -> None:
        """Add the rows of the next event. Raises ValueError: it does not follow from those before it."""
        if self._heads.get(event.head) not in (None, 0, event.prev):
            raise ValueError("not the event before it")
        self._heads[event.head] = event.seq
        if event.kind == "recorded":
            self._steps[payload["step"]] = (payload["parent"], payload["open"])
            self._records |= {(payload["step"], k): payload["step"] for k in payload["records"]}
        elif event.kind == "arrived":
            self._steps.setdefault(payload["at"], (before.tip, True))
            self._records[payload["step"], payload["record"]] = payload["at"]
        elif event.kind == "noted":
            self._notes.append((event.state.notes, before.notes, payload["slot"], encode(payload["text"])))
        self._add_cells(event, _tiles_of(payload), before)
        if event.state.tip not in self._steps:
            raise ValueError("no such step")

    def _add_cells(self, event: EventRow, tiles: list[int], before: State) -> None:
        """Put an event's tiles in place, as committing them did."""
        cover = before.cover
        for tile in tiles:
            cover, after = split_cover(self._tx, self._session, cover, read_tile(self._tx, self._session, tile))
            for number in (tile, *after):
                self._cells.append((len(self._cells) + 1, cover, number))
                cover = len(self._cells)
        if tiles and cover != event.state.cover:
            raise ValueError("another cover")

    def compare(self) -> Iterator[tuple[str, bool]]:
        """Each kind of rows, and whether the stored ones are those that the events made."""
        tx, session = self._tx, self._session
        heads, steps = tx.forest.heads(session), tx.log.steps(session)
        topics = {topic.id for topic in tx.forest.topics(session)}
        yield "branches", {head.id: head.seq for head in heads} == self._heads
        yield "topics", {head.topic for head in heads} == topics
        yield "steps", {0: (0, False)} | {step.n: (step.parent, step.open) for step in steps} == self._steps
        records = {(record.step, record.k): record.at for record in tx.log.entries_of(session)}
        yield "records", records == self._records
        yield "notes", tx.list_rows("note", "id, prev, slot, text", session) == self._notes
        yield "covers", tx.list_rows("cell", "id, prev, tile", session) == self._cells
        lanes = {lane: (parent, fork) for lane, parent, fork in tx.list_rows("lane", "id, parent, fork", session)}
        places = {0: (0, 0)} | {step.n: (step.lane, step.depth) for step in steps}
        for step in steps:
            lane, depth = places[step.parent]
            if step.depth != depth + 1 or (step.lane != lane and lanes.get(step.lane) != (lane, depth)):
                yield "places of steps", False
        yield "lanes", set(lanes) == {step.lane for step in steps}
