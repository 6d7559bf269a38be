"""The events of a session as values: what happened, who decided it, and whether it still stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from ctxfold.store.sqlite import Reading
from ctxfold.store.values import EventRow
from ctxfold.workspace.by import Decider

__all__ = ["DECISIONS", "Event", "EventKind", "history", "shown", "voided"]


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


@dataclass(frozen=True, slots=True)
class Event:
    """One committed event, as a history shows it.

    Attributes:
        seq: its number in the session.
        kind: what happened.
        decider: who decided it.
        cause: why, in a few words.
        branch: the branch it stands on.
        revision: the branch's revision after it, in hex.
        steps: the steps it concerns.
        time: when, seconds since 1970.
        standing: whether it is in force; a decision that was undone is not.
        refused: of an event that keeps what a model wrote and nobody could apply: each reply with what was wrong with it.
    """

    seq: int
    kind: EventKind
    decider: Decider
    cause: str
    branch: str
    revision: str
    steps: tuple[int, ...]
    time: float
    standing: bool = True
    refused: tuple[tuple[str, str], ...] = ()


def history(tx: Reading, session: int, limit: int) -> list[Event]:
    """The newest events, newest first, `limit` at most."""
    rows = tx.forest.events(session, limit=limit, newest=True)
    gone = voided(rows[::-1])
    return [shown(tx, session, row, standing=row.seq not in gone) for row in rows]


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
        tuple((each["text"], each["why"]) for each in payload.get("refused", ())),
    )


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
