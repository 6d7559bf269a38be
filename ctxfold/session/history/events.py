"""The kinds of events, and which of them were undone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, get_args

from ctxfold.store.values import EventRow

__all__ = ["DECISIONS", "INTENTS", "EventKind", "voided"]


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
