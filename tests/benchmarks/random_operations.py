"""Many random sequences of operations against the invariants: the same driver as the property tests, with a count.

    python -m tests.benchmarks.random_operations [COUNT=10000] [--first SEED] [--operations 12] [--workers 2]

Each seed is one session and one sequence, every third of them in a file; a failure prints its seed, and the run goes on to the next.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.support.operations import Driver, random_run
from tests.support.texts import ODD


def run(seed: int, operations: int) -> list[str]:
    """One seed: the operations it did."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Driver(str(Path(folder) / "store.db") if seed % 3 == 0 else ":memory:")
        try:
            done = random_run(driver, random.Random(seed), ODD, operations)
            driver.check_copy(Path(folder))
            driver.check_all()
        finally:
            driver.close()
    return done


def main() -> int:
    """Run the seeds on a few workers and report."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("count", type=int, nargs="?", default=10_000)
    options.add_argument("--first", type=int, default=1_000_000)
    options.add_argument("--operations", type=int, default=12)
    options.add_argument("--workers", type=int, default=2)
    chosen = options.parse_args()
    started = time.perf_counter()
    failed = 0
    kinds: Counter[str] = Counter()
    with ProcessPoolExecutor(chosen.workers) as pool:
        runs = [
            (seed, pool.submit(run, seed, chosen.operations))
            for seed in range(chosen.first, chosen.first + chosen.count)
        ]
        for number, (seed, future) in enumerate(runs, start=1):
            wrong = future.exception()
            if wrong is None:
                kinds.update(future.result())
            else:
                failed += 1
                print(f"seed {seed}:\n{''.join(traceback.format_exception(wrong))[-1_500:]}", flush=True)
            if number % 1_000 == 0:
                print(
                    f"{number} sequences, {failed} failed, {time.perf_counter() - started:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    print(
        f"{chosen.count} sequences of {chosen.operations} operations in {time.perf_counter() - started:.0f} s: {failed} failed"
    )
    print("  ".join(f"{name} {count}" for name, count in kinds.most_common()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
