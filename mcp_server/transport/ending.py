"""Ends a process that serves a host: on a signal, or when its parent is gone; in order, or after a time whatever it is doing."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import NoReturn

import anyio
import anyio.from_thread
import anyio.lowlevel

__all__ = ["Ending", "end_soon", "leave", "watch_parent"]

_LAST = 1.5
"""Seconds from being asked to leave until the process ends whatever it is doing."""

_GLANCE = 0.5
"""Seconds between two looks at whether the parent still lives."""

_ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


def leave(code: int) -> NoReturn:
    """End the process here and now: everything that is to be closed is closed."""
    sys.stderr.flush()
    os._exit(code)


def end_soon(code: int) -> None:
    """End the process with this code once the time for leaving in order is over, whatever it is doing then."""
    last = threading.Timer(_LAST, os._exit, args=(code,))
    last.daemon = True
    last.start()


class Ending:
    """The first reason to leave, as the exit code it means."""

    def __init__(self) -> None:
        self._code = 0
        self._event = anyio.Event()
        self._token = anyio.lowlevel.current_token()

    def begin(self, code: int) -> None:
        """Leave with this code. From the event loop's own thread."""
        if not self._event.is_set():
            self._code = code
            end_soon(code)
            self._event.set()

    def begin_on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Leave with the shell's code for a signal. The loop may be asleep, so another thread wakes it."""
        code = 128 + number
        end_soon(code)
        wake = partial(anyio.from_thread.run_sync, self.begin, code, token=self._token)
        threading.Thread(target=wake, daemon=True).start()

    async def wait(self) -> int:
        """The exit code, once there is a reason to leave."""
        await self._event.wait()
        return self._code

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Leave when a signal asks for it."""
        before = {number: signal.signal(number, self.begin_on_signal) for number in _ASKED}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def watch_parent(ending: Ending) -> None:
    """Notice a parent that was killed while something else still holds our stdin open."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - no system call tells of it everywhere
        await anyio.sleep(_GLANCE)
    ending.begin(0)
