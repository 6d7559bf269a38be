"""What a model would read before a call, made by a `Session`, by the simple policies of others, or by a control.

The control, `bag`, is each distinctive word of the past in alphabetical order. It finds every value and binds none: a
measure that it passes is broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from ctxfold import Session
from ctxfold.tokens import count
from tests.benchmarks.shared.recordings import RecordedEvent, Recording, Replay

SIMPLE = ("full", "drop:1000", "drop:2000", "bag")
"""The policies that a session is compared with."""

LEAST_BUDGET = 256
"""Tokens that a share of a short session is raised to: no view fits into less."""

_PIECE = re.compile(r"[^\s\"{}\[\],()]+")
_DISTINCTIVE = re.compile(r"[\d@/_]")


class Policy:
    """Takes in a recording event by event; makes a view at any time, by default from texts of the past events.

    Attributes:
        budget: tokens that no view may exceed; None for a policy without such a promise.
    """

    budget: int | None = None

    def __init__(self, choose: Callable[[Sequence[RecordedEvent]], list[str]]) -> None:
        self._choose = choose
        self._past: list[RecordedEvent] = []

    def add(self, event: RecordedEvent) -> None:
        self._past.append(event)

    def view(self) -> str:
        return "\n".join(self._choose(self._past))

    def close(self) -> None:
        self._past.clear()


MakePolicy = Callable[[Recording], Policy]


class SessionPolicy(Policy):
    """A `Session` at one budget, recorded and consolidated as a driver would."""

    def __init__(self, budget: int) -> None:
        super().__init__(keep_all)
        self.budget = budget
        self.session = Session.open("replay", store=":memory:")
        self._replay = Replay(self.session)

    def add(self, event: RecordedEvent) -> None:
        self._replay.add(event)

    def view(self) -> str:
        self._replay.settle()
        self.session.consolidate(budget=self.budget)
        return self.session.view(budget=self.budget).text

    def close(self) -> None:
        self.session.close()


def keep_all(past: Sequence[RecordedEvent]) -> list[str]:
    """Keep the full history."""
    return [event.body for event in past]


def drop_oldest(past: Sequence[RecordedEvent], tokens: int) -> list[str]:
    """Keep the newest events that fit into `tokens`, those from the last assistant's on, and the first of the user."""
    latest = max((at for at, event in enumerate(past) if event.role == "assistant"), default=0)
    kept, used = list[str](), 0
    for at in range(len(past) - 1, -1, -1):
        used += count(past[at].body)
        if used > tokens and at < latest:
            break
        kept.append(past[at].body)
    opening = next((event.body for event in past if event.role == "user"), "")
    return ([] if opening in kept else [opening]) + kept[::-1]


def list_words(past: Sequence[RecordedEvent]) -> list[str]:
    """List each distinctive word once, in alphabetical order."""
    pieces = {piece for event in past for piece in _PIECE.findall(event.body)}
    return [" ".join(sorted(piece for piece in pieces if piece[0].isupper() or _DISTINCTIVE.search(piece)))]


def read_size(number: str, recording: Recording) -> int:
    """Return a size in tokens: a number, or a percentage of a recording's full history."""
    if number.endswith("%"):
        whole = sum(count(event.body) for event in recording.events)
        return max(LEAST_BUDGET, round(float(number[:-1]) / 100 * whole))
    return int(number)


def read_policy(spec: str) -> MakePolicy:
    """Return the policy that a spec names.

    Specs are `full`, `bag`, `drop:TOKENS` and `session:TOKENS`; tokens may be a percentage of each session's full
    history.

    Raises:
        ValueError: not a spec.
    """
    kind, _, number = spec.partition(":")
    if spec in ("full", "bag"):
        return lambda _: Policy(keep_all if spec == "full" else list_words)
    if number.removesuffix("%").isdigit():
        if kind == "session":
            return lambda recording: SessionPolicy(read_size(number, recording))
        if kind == "drop":
            return lambda recording: Policy(partial(drop_oldest, tokens=read_size(number, recording)))
    raise ValueError(f"{spec!r} is no policy; write full, bag, drop:N or session:N (N may be 25%)")
