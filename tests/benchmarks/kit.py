"""How many planted facts a view keeps, by the canaries of `compaction-conformance-kit` (from PyPI).

    uv pip install compaction-conformance-kit python -m tests.benchmarks.kit [--shares 0.2 0.3 0.4] [--rounds 5]
    [--seeds 12]

Each session of the kit is recorded, consolidated once, and shown at the largest budget whose text fits into the share
of the transcript's characters. Later rounds ask for the view again, as no new turn comes. A canary survives when all
its values are in the view. The seeded session is the kit's own; random and generated sessions are made from seeds 1 to
N. Exits 1 when a round after the first loses a canary.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from ctxfold import Session
from tests.benchmarks.shared.harness import Bars, make_parser

LEAST_BUDGET = 256
"""Tokens below which no view is made."""


class ViewCompactor:
    """The kit's protocol of a compactor, served by the view of one session."""

    name = "ctxfold"

    def __init__(self) -> None:
        self._session: Session | None = None
        self._budget = 0

    def compact(self, turns: Sequence[Any], round_num: int = 1, budget_chars: int | None = None) -> Any:
        """Return the view. The turns are recorded in the first round; later rounds bring only the view itself."""
        if self._session is None:
            self._budget = find_budget(turns, budget_chars or 1)
            self._session = record_turns(turns, self._budget)
        self._session.consolidate(self._budget)
        context = importlib.import_module("compaction_kit.compacted").CompactedContext
        return context(self._session.view(self._budget).text, self.name, round_num)


def find_budget(turns: Sequence[Any], characters: int) -> int:
    """Return the largest budget in tokens whose view has at most so many characters."""
    low, high = LEAST_BUDGET, max(LEAST_BUDGET, characters)
    while low < high:
        middle = (low + high + 1) // 2
        with record_turns(turns, middle) as session:
            fits = len(session.view(middle).text) <= characters
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def record_turns(turns: Sequence[Any], budget: int) -> Session:
    """Record the kit's turns, those of the system prompt apart, and consolidate once."""
    session = Session.open("kit", store=":memory:")
    for turn in turns:
        if turn.role == "user":
            session.record_turn(user=turn.text)
        elif turn.role == "assistant":
            session.record_reply(turn.text)
    session.consolidate(budget)
    return session


def make_sessions(seeds: int) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """Yield the kit's sets by name: pairs of a session and its canaries, None where the kit has them built in."""
    yield "seeded", [(importlib.import_module("compaction_kit.session").build_seeded_session(), None)]
    for kind, module in (("random", "corpus"), ("generated", "generated")):
        build = getattr(importlib.import_module(f"compaction_kit.{module}"), f"build_{kind}_session")
        yield kind, [build(seed) for seed in range(1, seeds + 1)]


def measure(session: Any, canaries: Any, share: float, rounds: int) -> list[float]:
    """Return the share of the canaries that survived after each round."""
    run = importlib.import_module("compaction_kit.runner").run_conformance
    done = run(session, ViewCompactor(), rounds=rounds, canaries=canaries, budget_fraction=share)
    return [fmean(one.survived.values()) for one in done.rounds]


def main() -> int:
    """Print a line for each set and share."""
    parser = make_parser("kit", __doc__)
    parser.add_argument("--shares", type=float, nargs="*", default=[0.2, 0.3, 0.4])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=12, help="number of random and of generated sessions")
    chosen = parser.parse_args()
    if importlib.util.find_spec("compaction_kit") is None:
        parser.error("install compaction-conformance-kit first")
    bars = Bars()
    for name, sessions in make_sessions(chosen.seeds):
        for share in chosen.shares:
            kept = [measure(session, canaries, share, chosen.rounds) for session, canaries in sessions]
            means = [fmean(each) for each in zip(*kept, strict=True)]
            rounds = ", ".join(f"{mean:.2f}" for mean in means)
            print(f"{name:<10} {len(kept):>3} sessions at {share:.0%}: {rounds}", flush=True)
            bars.require(min(means) == means[0], f"{name} at {share:.0%} loses canaries after the first round")
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
