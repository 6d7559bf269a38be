"""Every extracted range against the log, over many fuzzed requests.

python -m tests.benchmarks.extraction [--requests 10000] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict

from tests.support.extraction import Log, fuzz


def main() -> int:
    """Run, print what came of it, and fail if one byte differs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    began = time.perf_counter()
    with Log() as session:
        made = fuzz(session, given.requests, given.seed)
    print(json.dumps({**asdict(made), "seconds": round(time.perf_counter() - began, 1)}))
    return int(made.wrong > 0 or made.changed_by_refusal > 0)


if __name__ == "__main__":
    raise SystemExit(main())
