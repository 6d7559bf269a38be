"""How much of a recorded session a view keeps, what it costs, and what simpler policies would keep: one table a set.

    python -m tests.benchmarks.fidelity [FILE.jsonl.gz | FOLDER …] [--budget 8000 | 25%]… [--beside POLICY | same]…
    python -m tests.benchmarks.fidelity FILE --join 20 --budget 4000      # sessions of a file joined end to end
    python -m tests.benchmarks.fidelity FILE --cliff 1000 --budget 2000   # sizes of views over 1,000 events

Without a file it replays the small session in this folder. `--beside same` compares with drop-oldest at the same mean
size. A value that is in a view is not yet used by a model, and the calls were made from another context. Exits 1 when a
view is larger than its budget.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import pairwise
from pathlib import Path

from ctxfold.tokens import count
from tests.benchmarks.fidelity.board import Sample, Score, score_policies, score_same_size
from tests.benchmarks.fidelity.policies import SIMPLE, SessionPolicy, read_policy
from tests.benchmarks.shared.harness import add_recordings, make_parser
from tests.benchmarks.shared.recordings import Recording, find_files, join_recordings, read_recordings

FULL = 0.6
"""Share of the budget from which a view counts as full: the low-water mark of consolidation."""
SAMPLE = Path(__file__).with_name("sample.jsonl.gz")


def print_cliff(recording: Recording, budget: int, most: int) -> None:
    """Replay at most `most` events of a recording, with a view after each but a call that waits for its results.

    Prints the smallest view after the first full one, the deepest drop between two views, and the largest view, as
    shares of the budget.
    """
    policy = SessionPolicy(budget)
    sizes: list[int] = []
    for event in recording.events[:most]:
        policy.add(event)
        if not event.calls:
            sizes.append(count(policy.view()))
    policy.close()
    first = next((at for at, size in enumerate(sizes) if size > FULL * budget), len(sizes) - 1)
    figures = {
        "lowest": min(sizes[first:]),
        "deepest drop": max(before - after for before, after in pairwise(sizes)),
        "highest": max(sizes),
    }
    shares = ", ".join(f"{name} {tokens / budget:.3f}" for name, tokens in figures.items())
    print(f"{recording.id}: {len(sizes)} views of {budget:,} tokens: {shares}", flush=True)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser("fidelity", __doc__)
    add_recordings(parser, needed=False)
    parser.add_argument(
        "--budget", action="append", help="tokens of a view, or a percentage of the history; repeatable"
    )
    parser.add_argument("--beside", action="append", help=f"a policy to compare with, instead of {', '.join(SIMPLE)}")
    parser.add_argument("--calls", type=int, default=0, help="score at most N calls of each session")
    parser.add_argument("--join", type=int, default=0, help="join the first N sessions of each file end to end")
    parser.add_argument("--cliff", type=int, default=0, help="measure sizes over at most N events instead of recall")
    chosen = parser.parse_args()
    chosen.budget = chosen.budget or ["8000"]
    return chosen


def print_row(score: Score, whole: bool) -> None:
    """Print one row; the cost only where `whole` says that every call was scored."""
    cost = f"{score.relative_cost:.3f}" if whole else "-"
    over = f"{score.over:>6}" if score.spec.startswith("session") else ""
    recalls = "".join(f"{share:>9.4f}" for share in score.shares)
    print(f"  {score.spec:<16}{score.mean_tokens:>8.0f}{recalls}{cost:>7}{over}", flush=True)


def main() -> int:
    """Print a table for each file. Returns 1 when a view was larger than its budget."""
    chosen = read_arguments()
    specs = [f"session:{budget}" for budget in chosen.budget]
    specs += [spec for spec in chosen.beside or SIMPLE if spec != "same"]
    sample = Sample(chosen.max_sessions, chosen.calls)
    over = 0
    for path in find_files(chosen.paths or [SAMPLE]):
        began, name, recordings = time.monotonic(), path.name.removesuffix(".jsonl.gz"), read_recordings(path)
        if chosen.join:
            recordings = [join_recordings(recordings[: chosen.join])]
        if chosen.cliff:
            for recording in recordings[: chosen.max_sessions]:
                for budget in chosen.budget:
                    print_cliff(recording, int(budget), chosen.cliff)
            continue
        scores = score_policies(recordings, {spec: read_policy(spec) for spec in specs}, sample)
        if "same" in (chosen.beside or ()):
            scores.append(score_same_size(recordings, scores[0].mean_tokens, sample))
        first = scores[0]
        print(
            f"{name}: {min(len(recordings), sample.sessions)} sessions, {first.calls} calls, {first.values} values, "
            f"{first.far} of them far; full history {first.mean_full:.0f} tokens; {time.monotonic() - began:.1f} s"
        )
        print(f"  {'policy':<16}{'tokens':>8}{'recall':>9}{'bound':>9}{'far':>9}{'cost':>7}{'over':>6}")
        for score in scores:
            print_row(score, not chosen.calls)
            over += score.over
    print("cost: input with prompt caching, relative to the full history. Presence is not use.")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
