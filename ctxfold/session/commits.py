"""Events, revisions, undo, redo."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, get_args

from ctxfold.errors import CorruptStore
from ctxfold.log.json import canonical
from ctxfold.store.rows import EventRow, HeadRow, Reading, State, Writing
from ctxfold.workspace import Decider

EventKind = Literal[
    "recorded",
    "arrived",
    "folded",
    "intent_set",
    "extracted",
    "refactored",
    "routed",
    "refused",
    "noted",
    "moved",
    "renamed",
    "voided",
    "redacted",
]

DECISIONS: frozenset[EventKind] = frozenset({"folded", "moved", "renamed", "intent_set", "extracted", "refactored"})
"""The kinds that undo can void. A record is never voided, nor what the user said the session is for."""

INTENTS: frozenset[EventKind] = frozenset({"intent_set", "extracted"})
"""The kinds that change what a session is after, and not its cover."""

KINDS: tuple[EventKind, ...] = get_args(EventKind)


def voided(events: Sequence[EventRow]) -> set[int]:
    """The decisions among events that were undone and not redone: their numbers."""
    gone: set[int] = set()
    undone: dict[int, int] = {}
    for event in events:
        if event.kind == "voided":
            payload = json.loads(event.json)
            target = int(payload["target"])
            if payload["by"] == "undo":
                undone[event.seq] = target
                gone.add(target)
            else:
                gone.discard(undone.get(target, 0))
    return gone


GENESIS = State(0, b"\0" * 16, 0, 0, 0, 0, 0)
"""The revision before anything happened."""


def revision(before: bytes, kind: str, payload: dict[str, Any], material: Sequence[bytes], after: State) -> bytes:
    """The id of the revision an event makes, 16 bytes."""
    made = blake2b(before, digest_size=16, person=b"revision")
    words = canonical({key: value for key, value in payload.items() if key not in NAMES})
    stands = f"{after.tip} {after.cover} {after.notes} {after.decision} {after.undone}"
    stands += f" {after.intent}" if after.intent else ""
    stands += f" g{after.guide}" if after.guide else ""
    made.update(f"\0{kind}\0{words}\0{stands}\0".encode("utf-8", "surrogatepass"))
    for piece in material:
        made.update(piece)
    return made.digest()


NAMES = frozenset({"name", "topic_name", "was_name"})
"""Payload keys that hold names: a branch renamed, or a session imported under another name keeps its revisions."""


def dump_payload(payload: dict[str, Any]) -> str:
    """An event's content as the store keeps it. No character is escaped that need not be: two halves of a pair would join when read."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def head_of(tx: Reading, session: int, branch: int) -> HeadRow:
    """A branch by number. Raises CorruptStore when it is not there."""
    for head in tx.forest.heads(session):
        if head.id == branch:
            return head
    raise CorruptStore(f"branch {branch} is not there; restore a copy of the store")


def state_of(tx: Reading, session: int, head: HeadRow) -> State:
    """The revision a branch stands at."""
    if head.seq == 0:
        return GENESIS
    event = tx.forest.event(session, head.seq)
    if event is None:
        raise CorruptStore(f"event {head.seq} is not there; restore a copy of the store")
    return event.state


@dataclass(frozen=True, slots=True)
class Happened:
    """What an event says: its resolved content as JSON, and hashes of what came with it. `redoable`: it is an undo that the branch should remember."""

    kind: EventKind
    payload: dict[str, Any]
    material: Sequence[bytes] = ()
    decider: Decider = "host"
    cause: str = ""
    redoable: bool = False


def advance(tx: Writing, session: int, head: HeadRow, before: State, after: State, what: Happened) -> State:
    """Commit one event on a branch."""
    seq = tx.forest.last_event(session) + 1
    decided = what.kind in DECISIONS
    undone = seq if what.redoable else 0 if decided else after.undone
    after = replace(after, seq=seq, decision=seq if decided else after.decision, undone=undone)
    after = replace(after, revision=revision(before.revision, what.kind, what.payload, what.material, after))
    words = dump_payload(what.payload)
    tx.forest.add_event(
        session, EventRow(seq, head.id, before.seq, what.kind, what.decider, what.cause, words, time.time(), after)
    )
    tx.forest.move_head(session, head.id, seq)
    return after
