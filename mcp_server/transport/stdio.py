"""How long a stdio server lives: until its host's end of stdin closes, a signal asks it to go, or its parent is gone. It answers no request itself.

Left alone the SDK dies of SIGTERM without cleaning up and sleeps through SIGINT until stdin closes, because the thread that reads stdin can't be
woken. So the process is ended here, after the desk is closed, or without that when it takes too long: all is committed, nothing is lost.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from types import FrameType
from typing import BinaryIO, NoReturn, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
from mcp.server.stdio import stdio_server

from mcp_server.server import CtxfoldServer
from mcp_server.sessions.pool import Desks

__all__ = ["Wire", "claim", "end_soon", "leave", "run_stdio"]


_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Wire:
    """The host's two pipes, on descriptors that nothing else in the process knows."""

    reader: BinaryIO
    writer: BinaryIO


def claim() -> Wire:
    """Take stdin and stdout for the protocol: from here on standard input is empty and standard output is stderr.

    Nothing is flushed first: what was printed before but still waits in a buffer then goes to stderr as well.

    Raises:
        OSError: a standard stream is closed, so there is no host to talk to.
    """
    reader = os.fdopen(os.dup(_STDIN), "rb")
    writer = os.fdopen(os.dup(_STDOUT), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _STDIN)
    os.dup2(_STDERR if _is_open(_STDERR) else nothing, _STDOUT)
    os.close(nothing)
    return Wire(reader, writer)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


_CLOSING = 1.0
"""Seconds for closing what is open."""

_LAST = 1.5
"""Seconds from being asked to leave until the process ends whatever it is doing."""

_GLANCE = 0.5
"""Seconds between two looks at whether the parent still lives."""

_ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class _Ending:
    """The first reason to leave, as the exit code it means."""

    def __init__(self) -> None:
        self.code = 0
        self._event = anyio.Event()
        self._token = anyio.lowlevel.current_token()

    def begin(self, code: int) -> None:
        """Leave with this code. From the event loop's own thread."""
        if not self._event.is_set():
            self.code = code
            end_soon(code)
            self._event.set()

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """A signal came: leave with the shell's code for it. The loop may be asleep, so another thread wakes it."""
        code = 128 + number
        end_soon(code)
        threading.Thread(
            target=anyio.from_thread.run_sync, args=(self.begin, code), kwargs={"token": self._token}, daemon=True
        ).start()

    async def wait(self) -> int:
        """The exit code, once there is a reason to leave."""
        await self._event.wait()
        return self.code


def run_stdio(desks: Desks, server: CtxfoldServer, wire: Wire) -> NoReturn:
    """Serve one host over its pipes, then end the process: 0 when the host closed stdin or is gone, 128 + n after signal n."""
    anyio.run(_live, desks, server, wire)
    raise AssertionError("the process ends inside")


async def _live(desks: Desks, server: CtxfoldServer, wire: Wire) -> None:
    ending = _Ending()
    with _signals(ending):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_answer, server, wire, ending)
            tasks.start_soon(_watch_parent, ending)
            code = await ending.wait()
            with anyio.move_on_after(_CLOSING):
                await desks.close()
            leave(code)


async def _answer(server: CtxfoldServer, wire: Wire, ending: _Ending) -> None:
    """Answer the host until it closes its end. A pipe that breaks says the same as one that ends."""
    try:
        await _run_on(server, wire, partial(end_soon, 0))
    except* (BrokenPipeError, ConnectionResetError):
        ending.begin(0)
    ending.begin(0)


async def _run_on(server: CtxfoldServer, wire: Wire, ended: Callable[[], None]) -> None:
    """Serve one host over its pipes until it closes its end; `ended` is called then, while calls under way are still being ended."""
    reader = _Lines(anyio.wrap_file(TextIOWrapper(wire.reader, encoding="utf-8", errors="replace")), ended)
    writer = anyio.wrap_file(TextIOWrapper(wire.writer, encoding="utf-8", newline="\n"))
    async with stdio_server(cast("anyio.AsyncFile[str]", reader), writer) as (incoming, outgoing):
        await server.run_between(incoming, outgoing)


class _Lines:
    """The lines of a stream, and word of its end: all that the SDK asks of its input."""

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


@contextmanager
def _signals(ending: _Ending) -> Iterator[None]:
    before = {number: signal.signal(number, ending.on_signal) for number in _ASKED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(code: int) -> NoReturn:
    """End the process here and now: everything that is to be closed is closed."""
    sys.stderr.flush()
    os._exit(code)


def end_soon(code: int) -> None:
    """End the process with this code once the time for leaving in order is over, whatever it is doing then."""
    last = threading.Timer(_LAST, os._exit, args=(code,))
    last.daemon = True
    last.start()
