"""How a branch advances: one event, one revision.

A revision's id is the hash of the one before it, of what happened and of the content that came with it; names and times stay out of it,
so replaying the same events gives the same ids.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from ctxfold.errors import CorruptStore
from ctxfold.log.json_tree import canonical
from ctxfold.session.history.events import DECISIONS, EventKind
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.store.values import EventRow, HeadRow, State
from ctxfold.workspace.by import Decider

__all__ = ["GENESIS", "Happened", "advance", "dump_payload", "head_of", "revision", "state_of"]

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
