"""What happened to a session, as values: one committed event each. They hold resolved content only, so that replay decides nothing again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["DECISIONS", "Decider", "Event", "EventKind"]

EventKind = Literal[
    "recorded",
    "arrived",
    "folded",
    "intent_set",
    "extracted",
    "refactored",
    "routed",
    "noted",
    "moved",
    "renamed",
    "voided",
    "redacted",
]
Decider = Literal["host", "model", "embedded"]

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
