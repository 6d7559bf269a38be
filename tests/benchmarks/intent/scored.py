"""A `make` for a scorer that lies elsewhere: a session with intent and extraction on, fed with the scorer's own events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tests.benchmarks.fidelity.policies import Replayed
from tests.benchmarks.fidelity.recordings import Call, Heard

__all__ = ["figures"]


class _Made:
    """What the scorer replays.

    Args:
        budget: tokens of the views.
        attends: whether intent and extraction are on.
    """

    def __init__(self, budget: int, attends: bool) -> None:
        self._replay = Replayed(budget, attends)

    def add(self, _at: int, event: Mapping[str, Any]) -> None:
        """Hear the next event."""
        calls = tuple(Call(each.get("id") or "c", each["name"], each["args"]) for each in event.get("calls", ()))
        self._replay.add(Heard(event["role"], event.get("text") or "", calls, event.get("call_id") or ""))

    def view(self) -> str:
        """What a model would read now."""
        return self._replay.view()

    def close(self) -> None:
        """Let go of the session."""
        self._replay.close()


def figures(scorer: ModuleType, path: str, budget: int, attends: bool, most: int) -> dict[str, Any]:
    """What a scorer says of one set.

    Args:
        scorer: a module with `score(path, make, max_sessions, limit=…)`.
        path: the set.
        budget: tokens of the views.
        attends: whether intent and extraction are on.
        most: sessions at most.
    """
    make: Callable[[Any], _Made] = lambda _row: _Made(budget, attends)  # noqa: E731
    scored: dict[str, Any] = scorer.score(path, make, most, limit=budget)
    return scored
