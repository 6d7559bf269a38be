"""Revisions from events alone: the same events give the same ids. It verifies what is stored and, after a redaction, writes the ids anew."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ctxfold.agreement import agree
from ctxfold.commit import GENESIS, revision
from ctxfold.errors import CorruptStore
from ctxfold.recording import material_of
from ctxfold.store.codec import decode, unpack
from ctxfold.store.protocol import Reading, Writing
from ctxfold.store.values import EventRow
from ctxfold.tiles import read_tile, tile_digest

__all__ = ["material", "rechain", "verify"]


def material(tx: Reading, session: int, event: EventRow) -> list[bytes]:
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
    tiles = [*([payload["tile"]] if "tile" in payload else []), *payload.get("tiles", ())]
    return pieces + [tile_digest(read_tile(tx, session, tile)) for tile in tiles]


def _revision(tx: Reading, session: int, event: EventRow, made: dict[int, bytes]) -> bytes:
    before = made.get(event.prev, GENESIS.revision) if event.prev else GENESIS.revision
    try:
        return revision(before, event.kind, json.loads(event.json), material(tx, session, event), event.state)
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptStore(f"event {event.seq} does not read back; restore a copy of the store") from error


def verify(tx: Reading, session: int) -> int:
    """Replay a session's events and compare every revision, and all that stands beside the events, with what is stored.

    Returns:
        How many events were replayed.

    Raises:
        CorruptStore: a revision differs, something it needs is not there, or something else stands there than the events say.
    """
    made: dict[int, bytes] = {}
    for event in tx.forest.events(session):
        made[event.seq] = _revision(tx, session, event, made)
        if made[event.seq] != event.state.revision:
            raise CorruptStore(f"event {event.seq} does not replay to its revision; restore a copy of the store")
    agree(tx, session)
    return len(made)


def rechain(tx: Writing, session: int) -> None:
    """Write every revision anew, after content was redacted."""
    made: dict[int, bytes] = {}
    for event in tx.forest.events(session):
        made[event.seq] = _revision(tx, session, event, made)
        if made[event.seq] != event.state.revision:
            tx.forest.replace_event(session, replace(event, state=replace(event.state, revision=made[event.seq])))
