"""Counts how often the same decision is tried on the same page, and judges when the run must stop repeating it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from browser_agent.actions import PageAction, Terminal

__all__ = ["LoopGuard", "Verdict"]

Verdict = Literal["go", "refuse", "end"]
"""`go` on; `refuse` this decision and ask for another; `end` the run with what was found."""

REFUSED_FROM, ENDED_AT = 3, 6


@dataclass(frozen=True, slots=True)
class LoopGuard:
    """How often each decision was tried on a page of the same address and content."""

    tried: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def after(self, actions: Sequence[PageAction | Terminal], fingerprint: str) -> tuple[LoopGuard, Verdict]:
        """The guard with this try counted, and what it says of it.

        Args:
            actions: what is to be done.
            fingerprint: of the page it is to be done on; empty before the first page.
        """
        key = (fingerprint, "\n".join(action.model_dump_json() for action in actions))
        times = self.tried.get(key, 0) + 1
        verdict: Verdict = "end" if times >= ENDED_AT else "refuse" if times >= REFUSED_FROM else "go"
        return replace(self, tried={**self.tried, key: times}), verdict
