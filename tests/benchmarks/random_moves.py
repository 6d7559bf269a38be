"""Many random sequences of moves against what must hold of every forest: acyclic, parents older than children, the tip at a tail or a fork, every
step on one limb, the view a function of path and forest.

    python -m tests.benchmarks.random_moves [COUNT=10000] [--first SEED] [--moves 14]
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

from ctxfold.errors import CtxfoldError
from tests.support.wandering import wander


def main() -> int:
    """Run the seeds and report."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("count", type=int, nargs="?", default=10_000)
    options.add_argument("--first", type=int, default=1)
    options.add_argument("--moves", type=int, default=14)
    chosen = options.parse_args()
    started, failed = time.perf_counter(), 0
    kinds: Counter[str] = Counter()
    for seed in range(chosen.first, chosen.first + chosen.count):
        try:
            kinds += wander(seed, chosen.moves)
        except (AssertionError, CtxfoldError):
            failed += 1
            print(f"seed {seed}:\n{traceback.format_exc()[-1_500:]}", flush=True)
        if (seed - chosen.first + 1) % 1_000 == 0:
            print(
                f"{seed - chosen.first + 1} sequences, {failed} failed, {time.perf_counter() - started:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    print(f"{chosen.count} sequences of {chosen.moves} moves in {time.perf_counter() - started:.0f} s: {failed} failed")
    print("  ".join(f"{name} {count}" for name, count in kinds.most_common()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
