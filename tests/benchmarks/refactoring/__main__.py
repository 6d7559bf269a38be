"""What refactoring makes of faults planted in recorded sessions, and of sessions without any.

    python -m tests.benchmarks.refactoring [FILE.jsonl.gz | FOLDER …] [--budget N] [--max-sessions N] [--only PART]…

Without a file it takes the small session of the fidelity benchmark. Exits 1 when a bar is missed. Faults are planted
with a fixed seed; a planted fault is plainer than one that grew, so the shares are a floor.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from ctxfold import Session
from tests.benchmarks.fidelity.__main__ import SAMPLE
from tests.benchmarks.refactoring.planting import (
    PlantedLoop,
    plant_back_and_forth,
    plant_failing_call,
)
from tests.benchmarks.shared.harness import Bars, add_recordings, make_parser
from tests.benchmarks.shared.recordings import Recording, Replay, find_files, read_recordings

PARTS = ("loops", "clean")
SEED = 11
WIDE = 200_000
"""A budget that every recording fits into."""


@dataclass
class Tally:
    """How often something came out right.

    Attributes:
        kept: of the values that had to survive, the share that did, one a try.
        notes: why the others did not come out.
    """

    tried: int = 0
    right: int = 0
    kept: list[float] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The share that came out right."""
        return self.right / self.tried if self.tried else 1.0

    def add(self, right: bool, note: str = "") -> None:
        """Count one try."""
        self.tried += 1
        self.right += right
        if not right:
            self.notes[note] += 1


def route_clean(recordings: Sequence[Recording], budget: int) -> Tally:
    """Route untouched sessions after each event: right when nothing was ever applied."""
    tally = Tally()
    for recording in recordings:
        with Session.open("clean", store=":memory:") as session:
            replay = Replay(session)
            for event in recording.events:
                replay.add(event)
                session.consolidate(budget=budget)
                session.refactor("auto", budget=budget)
            events = session.history(100_000)
        causes = [event.cause.partition(":")[0] for event in events if event.kind == "refactored"]
        tally.add(not causes, ", ".join(dict.fromkeys(causes)))
    return tally


def prune_loops(recordings: Sequence[Recording]) -> dict[str, Tally]:
    """Route planted loops once at their end: right when they were pruned."""
    kinds = {"a call that fails": plant_failing_call, "back and forth": plant_back_and_forth}
    tallies = {name: Tally() for name in kinds}
    for at, recording in enumerate(recordings):
        for name, plant in kinds.items():
            planted = plant(recording, random.Random(f"{SEED} {name} {at}"))
            if planted is not None:
                with planted.session as session:
                    _prune(tallies[name], planted, session)
    return tallies


def _prune(tally: Tally, planted: PlantedLoop, session: Session) -> None:
    done = session.refactor()
    pruned = done.applied and done.operator == "path_prune" and len(set(done.steps) & set(planted.steps)) >= 2
    tally.add(pruned, f"{done.operator}: {done.reason}")
    text = session.view(WIDE).text.lower()
    kept = sum(value in text for value in planted.found)
    tally.kept.append(kept / len(planted.found) if planted.found else 1.0)


def print_share(bars: Bars, name: str, share: float, bar: float | None, note: str) -> None:
    """Print one row: a share, its bar if it has one, and how it came about."""
    print(f"  {name:<36}{share:>8.4f}  {'' if bar is None else f'>= {bar:.2f}':<9}{note}", flush=True)
    bars.require(bar is None or share >= bar, f"{name}: {share:.4f}")


def print_tally(bars: Bars, name: str, tally: Tally, bar: float | None) -> None:
    """Print one row of a tally, and the notes of what did not come out."""
    print_share(bars, name, tally.share, bar, f"{tally.right} of {tally.tried}")
    for note, times in tally.notes.most_common(4):
        print(f"      {times} x {note[:150]}")


def main() -> int:
    """Print the table."""
    parser = make_parser("refactoring", __doc__)
    add_recordings(parser, needed=False)
    parser.add_argument("--budget", type=int, default=8000, help="tokens of a session's views")
    parser.add_argument("--only", action="append", choices=PARTS, help="a part of the table; repeatable")
    chosen = parser.parse_args()
    parts, bars = chosen.only or PARTS, Bars()
    for path in find_files(chosen.paths or [SAMPLE]):
        recordings = read_recordings(path)[: chosen.max_sessions]
        print(f"{path.name.removesuffix('.jsonl.gz')}: {len(recordings)} sessions", flush=True)
        if "loops" in parts:
            for name, tally in prune_loops(recordings).items():
                print_tally(bars, f"{name}: pruned", tally, 1.0)
                kept = tally.kept or [1.0]
                print_share(bars, f"{name}: values kept", fmean(kept), 0.98, f"least {min(kept):.3f}")
        if "clean" in parts:
            print_tally(bars, "clean session left alone", route_clean(recordings, chosen.budget), 0.95)
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
