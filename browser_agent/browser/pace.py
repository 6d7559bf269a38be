"""Measures how much longer this machine takes now than a quiet one."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
import zlib
from random import Random

__all__ = ["measure_pace"]

_QUIET = 0.024
"""Seconds that the measured piece of work takes on the machine on which the limits were set."""
_WORK = bytes(Random(7).choices(b"abcdefgh \n", k=400_000))
_TIMES = 3
_SLOWEST = 5.0
"""A host gives a call up after a minute, however slow the machine is."""


async def measure_pace() -> float:
    """How many times as long as a quiet machine this one takes now, 1 at least.

    The load counts beside the measured work: a browser is several processes, which wait for each other where one alone does not.
    """
    taken = await asyncio.to_thread(_work)
    return min(_SLOWEST, max(1.0, taken / _QUIET, _load()))


def _work() -> float:
    """The median time of a fixed piece of work, which leaves the interpreter to others."""
    times = []
    for _ in range(_TIMES):
        begun = time.perf_counter()
        zlib.compress(_WORK, 6)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _load() -> float:
    """How many processes wait for each processor; 0 where the system does not tell."""
    if not hasattr(os, "getloadavg"):
        return 0.0
    return os.getloadavg()[0] / (os.cpu_count() or 1)
