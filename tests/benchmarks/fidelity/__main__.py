"""How much of a recorded session a view keeps, what it costs, and what simpler policies would keep: one table a set.

    python -m tests.benchmarks.fidelity [FILE.jsonl.gz | FOLDER …] [--budget 8000 | 25%]… [--beside POLICY | same]…
    python -m tests.benchmarks.fidelity FILE --join 20 --budget 4000      # sessions of a file joined end to end
    python -m tests.benchmarks.fidelity FILE --cliff 1000 --budget 2000   # sizes of views over 1,000 events

Without a file it replays the small session in this folder. `--beside same` compares with drop-oldest at the same mean size.
A value that is in a view is not yet used by a model, and the calls were made from another context. Exits 1 when a view is
larger than its budget.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.benchmarks.fidelity.board import Sample, Score, score_policies, score_same_size
from tests.benchmarks.fidelity.cliff import print_cliffs
from tests.benchmarks.fidelity.policies import SIMPLE, read_policy
from tests.benchmarks.harness import add_recordings, make_parser
from tests.benchmarks.recordings import find_files, join_recordings, read_recordings

SAMPLE = Path(__file__).with_name("sample.jsonl.gz")


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
    for spec in (*(f"session:{budget}" for budget in chosen.budget), *(chosen.beside or ())):
        try:
            _ = spec == "same" or read_policy(spec)
        except ValueError as error:
            parser.error(str(error))
    for path in chosen.paths:
        if not path.exists():
            parser.error(f"there is no {path}")
    return chosen


def print_row(score: Score, whole: bool) -> None:
    """Print one row; the cost only where `whole` says that every call was scored."""
    cost = f"{score.relative_cost:.3f}" if whole else "-"
    over = f"{score.over:>6}" if score.spec.startswith("session") else ""
    recalls = f"{score.recall:>9.4f}{score.bound_recall:>9.4f}{score.far_recall:>9.4f}"
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
            sizes = [int(budget) for budget in chosen.budget]
            print_cliffs(name, recordings[: chosen.max_sessions], sizes, chosen.cliff)
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
