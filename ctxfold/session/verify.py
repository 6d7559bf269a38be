"""Replay and compare."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.errors import CorruptStore
from ctxfold.session.commits import GENESIS, compute_revision
from ctxfold.session.load import hash_tile, read_tile, split_cover
from ctxfold.session.record import material_of
from ctxfold.store.codec import decode, unpack
from ctxfold.store.rows import EventRow, State
from ctxfold.store.sqlite import Reading, Writing


@dataclass(frozen=True, slots=True)
class _Replayed:
    """An event, its content, and the revision it was made on."""

    event: EventRow
    payload: dict[str, Any]
    before: State


def _compare(tx: Reading, session: int) -> None:
    """Raises CorruptStore where something is missing, is too much, or says otherwise than its event."""
    try:
        rows = tx.forest.events(session)
        states = {0: GENESIS} | {event.seq: event.state for event in rows}
        events = [_Replayed(event, json.loads(event.json), states[event.prev]) for event in rows]
        differing = next((what for what, holds in _CHECKS.items() if not holds(tx, session, events)), None)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise CorruptStore("an event does not read back; restore a copy of the store") from error
    if differing is not None:
        raise CorruptStore(f"the {differing} of this session do not agree with its events; restore a copy of the store")


def _branches(tx: Reading, session: int, events: Sequence[_Replayed]) -> bool:
    """Each branch stands at its newest event, and its events follow one another."""
    newest: dict[int, int] = {}
    for number, each in enumerate(events, 1):
        event = each.event
        if event.seq != number or event.prev >= number or newest.get(event.head, event.prev) != event.prev:
            return False
        newest[event.head] = number
    heads = tx.forest.heads(session)
    return (
        [head.id for head in heads] == list(range(1, max([1, *newest]) + 1))
        and all(head.seq == newest.get(head.id, 0) for head in heads)
        and {head.topic for head in heads} == {topic.id for topic in tx.forest.topics(session)}
    )


def _steps(tx: Reading, session: int, events: Sequence[_Replayed]) -> bool:
    """Each step and record was told by an event, and stands where that says."""
    steps: dict[int, tuple[int, bool]] = {0: (0, False)}
    records: dict[tuple[int, int], int] = {}
    for each in events:
        payload, n = each.payload, each.payload.get("step", 0)
        if each.event.kind == "recorded":
            steps[n] = (payload["parent"], payload["open"])
            records |= {(n, k): n for k in payload["records"]}
        elif each.event.kind == "arrived":
            steps.setdefault(payload["at"], (each.before.tip, True))
            records[n, payload["record"]] = payload["at"]
        if each.event.state.tip not in steps:
            return False
    kept = tx.log.steps(session, range(1, tx.log.last_step(session) + 1))
    return {step.n: (step.parent, step.open) for step in kept} == {n: place for n, place in steps.items() if n} and {
        (record.step, record.k): record.at for record in tx.log.entries_of(session)
    } == records


def _places(tx: Reading, session: int, _events: Sequence[_Replayed]) -> bool:
    """Each step stands one deeper than its parent, in the same lane or in one that leaves it there."""
    lanes = {lane: (parent, fork) for lane, parent, fork in tx.log.lanes(session)}
    places = {0: (0, 0)}
    for step in tx.log.steps(session, range(1, tx.log.last_step(session) + 1)):
        lane, depth = places[step.parent]
        if step.depth != depth + 1 or (step.lane != lane and lanes[step.lane] != (lane, depth)):
            return False
        places[step.n] = (step.lane, step.depth)
    return set(lanes) == {lane for lane, _ in places.values() if lane}


def _notes(tx: Reading, session: int, events: Sequence[_Replayed]) -> bool:
    """Each note is the one its event tells."""
    noted = [each for each in events if each.event.kind == "noted"]
    made = [(e.event.state.notes, e.before.notes, e.payload["slot"], e.payload["text"]) for e in noted]
    return tx.cover.note_links(session) == made


def _cells(tx: Reading, session: int, events: Sequence[_Replayed]) -> bool:
    """Each cell is the one that putting its event's tiles in place makes."""
    made: list[tuple[int, int, int]] = []
    for each in events:
        cover = each.before.cover
        tiles = _tiles(each.payload)
        for tile in tiles:
            cover, kept = split_cover(tx, session, cover, read_tile(tx, session, tile))
            for number in (tile, *kept):
                made.append((len(made) + 1, cover, number))
                cover = len(made)
        if tiles and cover != each.event.state.cover:
            return False
    return tx.cover.cells(session) == made


_CHECKS = {"branches": _branches, "steps": _steps, "places of steps": _places, "notes": _notes, "covers": _cells}


def _material(tx: Reading, session: int, event: EventRow) -> list[bytes]:
    """The hashes of the content that came with an event, as its revision takes them in."""
    payload: dict[str, Any] = json.loads(event.json)
    match event.kind:
        case "recorded":
            wanted = set(payload["records"])
            found = [record for record in tx.log.records(session, [payload["step"]]) if record.k in wanted]
            found.sort(key=lambda record: record.id)
        case "arrived":
            found = [record for record in tx.log.records(session, [payload["step"]]) if record.k == payload["record"]]
        case "folded" | "refactored":
            found = []
        case _:
            return []
    pieces = [
        piece
        for record in found
        for piece in material_of(
            (record.kind, record.origin, record.call_id),
            tx.log.entry_hash(record.entry),
            None if record.shown is None else tx.log.entry_hash(record.shown),
            decode(unpack(record.form[0], record.form[1:])),
        )
    ]
    return pieces + [hash_tile(tx, session, tile) for tile in _tiles(payload)]


def _tiles(payload: dict[str, Any]) -> list[int]:
    """The tiles that an event put in place."""
    return [*([payload["tile"]] if "tile" in payload else []), *payload.get("tiles", ())]


def _revision(tx: Reading, session: int, event: EventRow, made: dict[int, bytes]) -> bytes:
    before = made.get(event.prev, GENESIS.revision) if event.prev else GENESIS.revision
    try:
        return compute_revision(before, event.kind, json.loads(event.json), _material(tx, session, event), event.state)
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptStore(f"event {event.seq} does not read back; restore a copy of the store") from error


def verify(tx: Reading, session: int) -> int:
    """Replay a session's events and compare every revision, and all that stands beside the events, with what is stored.

    Raises:
        CorruptStore: a revision differs, something it needs is not there, or something else stands there than the events say.
    """
    made: dict[int, bytes] = {}
    for event in tx.forest.events(session):
        made[event.seq] = _revision(tx, session, event, made)
        if made[event.seq] != event.state.revision:
            raise CorruptStore(f"event {event.seq} does not replay to its revision; restore a copy of the store")
    _compare(tx, session)
    return len(made)


def rechain(tx: Writing, session: int) -> None:
    """Write every revision anew, after content was redacted."""
    made: dict[int, bytes] = {}
    for event in tx.forest.events(session):
        made[event.seq] = _revision(tx, session, event, made)
        if made[event.seq] != event.state.revision:
            tx.forest.replace_event(session, replace(event, state=replace(event.state, revision=made[event.seq])))
