"""What happened, as a person or a host reads it. It reads events; it makes none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from ctxfold.events import DECISIONS, Decider, Event, EventKind
from ctxfold.store.protocol import Reading
from ctxfold.store.values import EventRow

__all__ = ["history", "shown", "voided"]


def history(tx: Reading, session: int, limit: int) -> list[Event]:
    """The newest events, newest first.

    Args:
        tx: an open transaction.
        session: the session's row id.
        limit: how many at most.
    """
    rows = tx.forest.events(session, limit=limit, newest=True)
    voided: set[int] = set()
    made: list[Event] = []
    for row in rows:
        standing = row.seq not in voided
        if row.kind == "voided" and standing:
            voided.add(int(json.loads(row.json)["target"]))
        made.append(shown(tx, session, row, standing=standing or row.kind not in DECISIONS))
    return made


def shown(tx: Reading, session: int, row: EventRow, *, standing: bool) -> Event:
    """An event as a history shows it."""
    branch = next((head.name for head in tx.forest.heads(session) if head.id == row.head), "")
    payload = json.loads(row.json)
    steps = tuple(payload.get("steps", ())) or ((payload["step"],) if "step" in payload else ())
    return Event(
        row.seq,
        cast(EventKind, row.kind),
        cast(Decider, row.decider),
        row.cause,
        branch,
        row.state.revision.hex(),
        steps,
        row.time,
        standing,
    )


def voided(events: Sequence[EventRow]) -> set[int]:
    """The decisions among events that were undone and not redone: their numbers.

    Args:
        events: oldest first.
    """
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
