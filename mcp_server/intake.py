"""What a host hands in, as values, and the one function that records each. It renders nothing and folds nothing.

`Entry` is closed: a new way to hand something in is a new member here and a new case in `take_in`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from ctxfold import Session

__all__ = ["Entry", "LateResult", "NoteKept", "ReplyGiven", "StepTaken", "UserSaid", "size", "take_in"]


@dataclass(frozen=True, slots=True)
class UserSaid:
    """The user's own words: opens a turn."""

    text: str


@dataclass(frozen=True, slots=True)
class StepTaken:
    """What the assistant explained, called and got."""

    explanation: str
    calls: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LateResult:
    """A result of a step that was recorded without it."""

    step: int
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplyGiven:
    """The assistant's answer: closes the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class NoteKept:
    """A decision or finding to keep in sight."""

    text: str


Entry = UserSaid | StepTaken | LateResult | ReplyGiven | NoteKept


def take_in(session: Session, entry: Entry) -> int:
    """Record one entry.

    Args:
        session: where.
        entry: what.

    Returns:
        The number of the step it stands in.

    Raises:
        RefError: a late result for a step or call that isn't there.
        StoreError: it could not be committed.
    """
    match entry:
        case UserSaid(text):
            return session.record_turn(user=text)
        case StepTaken(explanation, calls, results):
            return session.record_step(
                explanation=explanation,
                calls=[dict(call) for call in calls],
                results=[dict(result) for result in results],
            )
        case LateResult(step, call_id, text):
            return session.record_result(step, call_id, text)
        case ReplyGiven(text):
            return session.record_reply(text)
        case NoteKept(text):
            return session.record_note(text, origin="model")
        case _:
            assert_never(entry)


def size(entry: Entry) -> int:
    """Bytes of the text an entry brings, without a call's arguments."""
    match entry:
        case StepTaken(explanation, _, results):
            return _bytes(explanation) + sum(_bytes(result["text"]) for result in results)
        case UserSaid(text) | LateResult(text=text) | ReplyGiven(text) | NoteKept(text):
            return _bytes(text)
        case _:
            assert_never(entry)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
