"""What stands before a model at a call, made in different ways: by a `Session`, by the simple policies others use, and by a control.

The control, `bag`, is every telling word of the past in alphabetical order: it finds all and binds nothing, so a measure that it passes is broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from ctxfold import Session
from ctxfold.tokens import count
from tests.benchmarks.fidelity.recordings import Heard
from tests.benchmarks.fidelity.replaying import Replay

__all__ = ["SIMPLE", "Policy", "Replayed", "policy"]

SIMPLE = ("full", "drop:1000", "drop:2000", "first:200", "mask:3", "bag")
"""What a session is compared with."""


class Policy(Protocol):
    """Something that hears a session event by event and can be asked for a view at any time."""

    def add(self, event: Heard) -> None:
        """Hear the next event."""
        ...

    def view(self) -> str:
        """What a model would read now."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Listed:
    """A policy that makes its view of the list of past events.

    Args:
        made: the texts of a view from the events.
    """

    def __init__(self, made: Callable[[Sequence[Heard]], list[str]]) -> None:
        self._made = made
        self._past: list[Heard] = []

    def add(self, event: Heard) -> None:
        """Hear the next event."""
        self._past.append(event)

    def view(self) -> str:
        """What a model would read now."""
        return "\n".join(self._made(self._past))

    def close(self) -> None:
        """Nothing is held."""


def _latest(past: Sequence[Heard]) -> int:
    """Where the last assistant message stands: what follows it is always kept."""
    return max((at for at, event in enumerate(past) if event.role == "assistant"), default=0)


def full(past: Sequence[Heard]) -> list[str]:
    """Everything."""
    return [event.body for event in past]


def drop(past: Sequence[Heard], tokens: int) -> list[str]:
    """The newest events that fit, and the first user message."""
    latest, kept, used = _latest(past), list[str](), 0
    for at in range(len(past) - 1, -1, -1):
        used += count(past[at].body)
        if used > tokens and at < latest:
            break
        kept.append(past[at].body)
    opening = next((event.body for event in past if event.role == "user"), "")
    return ([] if opening in kept else [opening]) + kept[::-1]


def first(past: Sequence[Heard], characters: int) -> list[str]:
    """Everything, but of older results their first characters."""
    latest = _latest(past)
    return [
        event.body[:characters] if event.role == "tool" and at < latest else event.body for at, event in enumerate(past)
    ]


def mask(past: Sequence[Heard], results: int) -> list[str]:
    """Everything, but of all results only the newest few."""
    places = [at for at, event in enumerate(past) if event.role == "tool"]
    kept = set(places[-results:])
    return ["[cleared]" if event.role == "tool" and at not in kept else event.body for at, event in enumerate(past)]


_PIECE = re.compile(r"[^\s\"{}\[\],()]+")
_TELLING = re.compile(r"[\d@/_]")


def bag(past: Sequence[Heard]) -> list[str]:
    """Every telling word once, in alphabetical order: a heap, not a view."""
    pieces = {piece for event in past for piece in _PIECE.findall(event.body)}
    return [" ".join(sorted(piece for piece in pieces if piece[0].isupper() or _TELLING.search(piece)))]


class Replayed:
    """A `Session` at one budget, recorded and consolidated as a driver would.

    Args:
        budget: tokens of its views.
        attends: whether intent and extraction are on.

    Attributes:
        tokens: of the last view.
    """

    def __init__(self, budget: int, attends: bool = False) -> None:
        self._session = Session.open("replay", store=":memory:")
        self._budget = budget
        self._attends = attends
        self.tokens = 0
        self._replay = Replay(self._session)

    def add(self, event: Heard) -> None:
        """Hear the next event. A call waits for its results, which follow it."""
        self._replay.hear(event)

    def view(self) -> str:
        """What a model would read now."""
        self._replay.settle()
        self._session.consolidate(budget=self._budget)
        if self._attends:
            self._session.maintain(budget=self._budget)
        made = self._session.view(budget=self._budget)
        self.tokens = made.tokens
        return made.text

    def close(self) -> None:
        """Close the session."""
        self._session.close()


class Routed(Replayed):
    """The same, consolidated at each event, with the router after it or, to compare with, without.

    Args:
        budget: tokens of its views.
        routes: whether the router looks at each step.
    """

    def __init__(self, budget: int, routes: bool = True) -> None:
        super().__init__(budget)
        self._routes = routes

    @property
    def session(self) -> Session:
        """What it is recorded in."""
        return self._session

    def add(self, event: Heard) -> None:
        """Hear the next event."""
        super().add(event)
        if event.role != "tool":
            self._look()

    def view(self) -> str:
        """What a model would read now."""
        self._replay.settle()
        self._look()
        return super().view()

    def _look(self) -> None:
        self._session.consolidate(budget=self._budget)
        if self._routes:
            self._session.refactor("auto", budget=self._budget)


def policy(spec: str) -> Callable[[], Policy]:
    """What makes a policy: `full`, `drop:TOKENS`, `first:CHARACTERS`, `mask:RESULTS`, `bag`, `session:BUDGET`, `intent:BUDGET` with plans and extracts,
    `routed:BUDGET` with the router after each step, or `stepped:BUDGET` without it but for that the same.

    Raises:
        ValueError: none of these.
    """
    kind, _, number = spec.partition(":")
    limited: dict[str, Callable[[Sequence[Heard], int], list[str]]] = {"drop": drop, "first": first, "mask": mask}
    if spec == "full":
        return lambda: Listed(full)
    if spec == "bag":
        return lambda: Listed(bag)
    if kind in limited and number.isdigit():
        return lambda: Listed(lambda past: limited[kind](past, int(number)))
    if kind in ("session", "intent") and number.isdigit():
        return lambda: Replayed(int(number), attends=kind == "intent")
    if kind in ("stepped", "routed") and number.isdigit():
        return lambda: Routed(int(number), routes=kind == "routed")
    raise ValueError(
        f"no policy {spec!r}: use full, drop:N, first:N, mask:N, bag, session:BUDGET, intent:BUDGET, stepped:BUDGET or routed:BUDGET"
    )
