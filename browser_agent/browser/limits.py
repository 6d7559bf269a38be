"""Holds the time limits of everything done in the browser, and lengthens them on a slow machine."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
import zlib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from random import Random

from browser_agent.browser.gate import Gate
from browser_agent.network.secrets import Secrets
from browser_agent.observation import BUDGET

_EACH = 0.0001
"""Seconds that the snapshot of one element takes at most; about twice the measured time on a quiet machine."""

_LONGEST = 40.0
"""Hosts give a call up after a minute."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time-outs in seconds, each for one part of a call, at `pace` times the time of a quiet machine.

    Attributes:
        action: one action on an element.
        navigation: until a server answers; the page may go on loading after.
        settle: until the page has come to rest after an action.
        observe: one look at a small page.
        probe: the least that a page which seems hung is given to answer.
        repair: closing a hung page, and as much again for opening another.
        whole: one action and the look after it, without `wait_for` and the reading of a large page.
        silence: until a page that does not answer counts as hung, over several calls.
        call: all actions of one call, after which none is begun, whatever the pace: the host waits.
    """

    action: float = 2.0
    navigation: float = 4.0
    settle: float = 2.2
    observe: float = 4.0
    probe: float = 0.7
    repair: float = 1.0
    whole: float = 6.0
    silence: float = 10.0
    call: float = 40.0
    pace: float = 1.0

    def at_pace(self, pace: float) -> Limits:
        """Return these on a machine that takes `pace` times as long."""
        names = {field.name for field in fields(self)} - {"call"}
        return replace(self, **{name: getattr(self, name) * pace / self.pace for name in names})

    def to_observe(self, elements: int) -> float:
        """Return how many seconds a look at a page of so many elements may take."""
        return min(self.observe + elements * _EACH * self.pace, _LONGEST)


LIMITS = Limits()
"""The limits on a quiet machine."""


_QUIET = 0.024
"""Seconds that the measured piece of work takes on the machine on which the limits were set."""
_WORK = bytes(Random(7).choices(b"abcdefgh \n", k=400_000))
_TIMES = 3
_SLOWEST = 5.0
"""A host gives a call up after a minute, however slow the machine is."""


async def measure_pace() -> float:
    """Return how many times as long as a quiet machine this one takes now, from 1 to 5.

    The load counts as well as the measured work: a browser is several processes, and they wait for each other.
    """
    taken = [await asyncio.to_thread(_time_work) for _ in range(_TIMES)]
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 0.0
    return min(_SLOWEST, max(1.0, statistics.median(taken) / _QUIET, load))


def _time_work() -> float:
    """Return the seconds of a fixed piece of work outside the interpreter. (`timeit` turns collection off for all.)"""
    begun = time.perf_counter()
    zlib.compress(_WORK, 6)
    return time.perf_counter() - begun


@dataclass(frozen=True, slots=True)
class Folders:
    """Where downloads go, and the folders that files may be uploaded from."""

    downloads: Path
    uploads: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """How a window is used.

    Attributes:
        folders: where downloads go, and where uploads may come from.
        budget: the most one observation costs, in o200k tokens.
        secrets: typed by placeholder, and scrubbed from all that is seen.
        limits: the time limits it begins with.
        keeps: whether the reader of observations keeps earlier ones, which are then not shown again.
        gate: holds back requests with effects; None lets all go that may leave the browser.
    """

    folders: Folders
    budget: int = BUDGET
    secrets: Secrets = field(default_factory=Secrets)
    limits: Limits = LIMITS
    keeps: bool = False
    gate: Gate | None = None
