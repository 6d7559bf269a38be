"""What counting costs: the first count of a process, a page, a block known before, the head of a huge text. Fails above its bars.

    python tests/benchmarks/counting.py

The bars are for an idle machine: a median of 2 ms for 30 kB of Python source that was never counted, 0.5 ms for the same again.
"""

from __future__ import annotations

import inspect
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from ctxfold.tokens import count, head

PAGE = 30_000
"""Characters of a page: what a documentation page holds."""

BARS = {"30 kB, never counted": 2.0, "30 kB, counted before": 0.5, "head of 5 MB, 60 tokens": 2.0}
"""Most milliseconds, median."""


def milliseconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3


def pages() -> list[str]:
    """Fifty texts of source, no two alike, of `PAGE` characters each."""
    source = "".join(map(inspect.getsource, (inspect, statistics, subprocess)))
    return [f"# {at}\n" + (source + source)[at * 997 :][: PAGE - 10] for at in range(50)]


def main() -> int:
    """Measure, print one line each, and return 1 if a bar is crossed."""
    print(f"{'first count, table loaded':<28}{milliseconds(partial(count, 'one')):8.1f} ms")
    texts = pages()
    line = "watched words " * 400_000
    measured = {
        "30 kB, never counted": [milliseconds(partial(count, text)) for text in texts],
        "30 kB, counted before": [milliseconds(partial(count, text)) for text in texts],
        "head of 5 MB, 60 tokens": [milliseconds(partial(head, line, 60)) for _ in range(20)],
    }
    over = 0
    for what, times in measured.items():
        over += median(times) > BARS[what]
        print(f"{what:<28}{median(times):8.2f} ms   bar {BARS[what]} ms")
    print(f"{'5 MB line, never counted':<28}{milliseconds(partial(count, line)):8.1f} ms")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
