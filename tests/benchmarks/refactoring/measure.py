"""What refactoring makes of planted faults, and of sessions without any: shares, counted. It prints nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ctxfold import Session
from tests.benchmarks.fidelity.policies import Routed
from tests.benchmarks.fidelity.recordings import Recording
from tests.benchmarks.refactoring.planting import Planted, failing, inventions, to_and_fro

__all__ = ["Tally", "clean", "invented", "loops"]

SEED = 11
WIDE = 200_000


@dataclass
class Tally:
    """How often something came out as it should.

    Attributes:
        tried: how often it was tried.
        right: how often it came out.
        kept: of the values that had to survive, the share that did, one a try.
        notes: what came out otherwise.
    """

    tried: int = 0
    right: int = 0
    kept: list[float] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The share that came out."""
        return self.right / self.tried if self.tried else 1.0

    @property
    def least_kept(self) -> float:
        """The mean share of values that survived."""
        return sum(self.kept) / len(self.kept) if self.kept else 1.0

    def add(self, right: bool, note: str = "") -> None:
        """Count one try."""
        self.tried += 1
        self.right += right
        if not right:
            self.notes[note] += 1


def clean(recordings: Sequence[Recording], budget: int) -> Tally:
    """Untouched sessions, routed after each event: right when nothing was ever applied."""
    tally = Tally()
    for recording in recordings:
        replayed = Routed(budget)
        for event in recording.events:
            replayed.add(event)
        replayed.view()
        causes = [
            event.cause.partition(":")[0] for event in replayed.session.history(100_000) if event.kind == "refactored"
        ]
        tally.add(not causes, ", ".join(dict.fromkeys(causes)))
        replayed.close()
    return tally


def loops(recordings: Sequence[Recording]) -> dict[str, Tally]:
    """Planted loops, routed once at their end: right when they were pruned."""
    kinds: dict[str, Callable[[Recording, random.Random], Planted | None]] = {
        "a call that fails": failing,
        "back and forth": to_and_fro,
    }
    tallies = {name: Tally() for name in kinds}
    for at, recording in enumerate(recordings):
        for name, plant in kinds.items():
            planted = plant(recording, random.Random(f"{SEED} {name} {at}"))
            if planted is not None:
                with planted.session as session:
                    _loop(tallies[name], planted, session)
    return tallies


def _loop(tally: Tally, planted: Planted, session: Session) -> None:
    done = session.refactor()
    pruned = done.applied and done.operator == "path_prune" and len(set(done.steps) & set(planted.steps)) >= 2
    tally.add(pruned, f"{done.operator}: {done.reason}")
    standing = session.view(WIDE).text.lower()
    kept = sum(value in standing for value in planted.found)
    tally.kept.append(kept / len(planted.found) if planted.found else 1.0)


def invented(recordings: Sequence[Recording]) -> tuple[Tally, Tally]:
    """Summaries with one invented value, right when refused and the view is as it was; and true ones, right when applied."""
    refused, taken = Tally(), Tally()
    for at, recording in enumerate(recordings):
        made = inventions(recording, random.Random(f"{SEED} {at}"))
        if made is None:
            continue
        session, true, false = made
        with session:
            before = session.view(WIDE).text
            for text in false:
                done = session.refactor("state_abstract", text)
                refused.add(done.refused and session.view(WIDE).text == before, done.reason)
            done = session.refactor("state_abstract", true)
            taken.add(done.applied, done.reason)
    return refused, taken
