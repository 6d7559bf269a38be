"""How the size of a view moves while a session grows: its lowest once it was full, and its deepest drop between two events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxfold.tokens import count
from tests.benchmarks.fidelity.policies import SessionPolicy
from tests.benchmarks.recordings import Recording

FULL = 0.6
"""Share of the budget from which a view counts as full: the low-water mark of consolidation."""


@dataclass(frozen=True)
class Cliff:
    """Sizes as shares of the budget.

    Attributes:
        events: events replayed.
        lowest: the smallest view after the first full one.
        drop: by how much one view was smaller than the one before it, at most.
        highest: the largest view.
    """

    events: int
    lowest: float
    drop: float
    highest: float


def measure_cliff(recording: Recording, budget: int, most: int) -> Cliff:
    """Replay at most `most` events of a recording, with a view after each that is no call still without its results."""
    policy = SessionPolicy(budget)
    sizes: list[int] = []
    for event in recording.events[:most]:
        policy.add(event)
        if not event.calls:
            sizes.append(count(policy.view()))
    policy.close()
    first = next((at for at, size in enumerate(sizes) if size > FULL * budget), len(sizes) - 1)
    drops = [before - after for before, after in pairwise(sizes)]
    return Cliff(len(sizes), min(sizes[first:]) / budget, max(drops) / budget, max(sizes) / budget)


def print_cliffs(name: str, recordings: Sequence[Recording], budgets: Sequence[int], most: int) -> None:
    """Print a line for each recording and budget."""
    for recording in recordings:
        for budget in budgets:
            cliff = measure_cliff(recording, budget, most)
            print(
                f"{name} {recording.id}: {cliff.events} views of {budget:,} tokens: lowest {cliff.lowest:.3f}, "
                f"deepest drop {cliff.drop:.3f}, highest {cliff.highest:.3f} of the budget",
                flush=True,
            )
