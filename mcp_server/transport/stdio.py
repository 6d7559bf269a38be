"""Serves over stdio until the host closes standard input, a signal asks to end, or the parent process is gone.

Left alone the SDK dies of SIGTERM without cleaning up and sleeps through SIGINT until stdin closes, because the thread that reads stdin can't be
woken. So the process is ended here, after the pools are closed, or without that when it takes too long: all is committed, nothing is lost.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
from mcp.server.stdio import stdio_server

from mcp_server.server import CtxfoldServer
from mcp_server.sessions.pool import Pools
from mcp_server.transport.pipes import Pipes

__all__ = ["end_soon", "leave", "run_stdio"]

_CLOSING = 1.0
"""Seconds for closing what is open."""

_LAST = 1.5
"""Seconds from being asked to leave until the process ends whatever it is doing."""

_GLANCE = 0.5
"""Seconds between two looks at whether the parent still lives."""

_ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


def run_stdio(pools: Pools, server: CtxfoldServer, pipes: Pipes) -> NoReturn:
    """Serve one host over its pipes, then end the process: 0 when the host closed stdin or is gone, 128 + n after signal n."""
    anyio.run(_serve, pools, server, pipes)
    raise AssertionError("the process ends inside")


def leave(code: int) -> NoReturn:
    """End the process here and now: everything that is to be closed is closed."""
    sys.stderr.flush()
    os._exit(code)


def end_soon(code: int) -> None:
    """End the process with this code once the time for leaving in order is over, whatever it is doing then."""
    last = threading.Timer(_LAST, os._exit, args=(code,))
    last.daemon = True
    last.start()


class _Ending:
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


async def _serve(pools: Pools, server: CtxfoldServer, pipes: Pipes) -> None:
    ending = _Ending()
    with ending.on_signals():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_answer_host, server, pipes, ending)
            tasks.start_soon(_watch_parent, ending)
            code = await ending.wait()
            with anyio.move_on_after(_CLOSING):
                await pools.close()
            leave(code)


async def _answer_host(server: CtxfoldServer, pipes: Pipes, ending: _Ending) -> None:
    """Answer the host until it closes its end; a pipe that breaks says the same as one that ends."""
    text = anyio.wrap_file(TextIOWrapper(pipes.reader, encoding="utf-8", errors="replace"))
    reader = _Lines(text, partial(end_soon, 0))
    writer = anyio.wrap_file(TextIOWrapper(pipes.writer, encoding="utf-8", newline="\n"))
    try:
        async with stdio_server(cast("anyio.AsyncFile[str]", reader), writer) as (incoming, outgoing):
            await server.run_between(incoming, outgoing)
    except* (BrokenPipeError, ConnectionResetError):
        ending.begin(0)
    ending.begin(0)


class _Lines:
    """The lines of a stream, all that the SDK asks of its input; `ended` is called at its end, while calls under way are still being ended."""

    def __init__(self, file: anyio.AsyncFile[str], ended: Callable[[], None]) -> None:
        self._file = file
        self._ended = ended

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            yield line
        self._ended()


async def _watch_parent(ending: _Ending) -> None:
    """Notice a parent that was killed while something else still holds our stdin open."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - no system call tells of it everywhere
        await anyio.sleep(_GLANCE)
    ending.begin(0)
