"""The two ends that the wrapper stands between, as lines: the host on our standard streams, and a server that is a process of ours."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

import anyio
import anyio.abc
import anyio.to_thread

from ctxfold.errors import InputError
from mcp_server.transport.stdio import Pipes

__all__ = ["End", "Host", "LocalServer", "start"]

_LONGEST = 256 * 1024 * 1024
"""Bytes of a line beyond which nobody means to end it."""
_CHUNK = 1 << 16
_TOLD = 64 * 1024
"""Bytes of the server's standard error that wait to be passed on; what comes meanwhile is dropped."""
_WORDS = 300
_PATIENCE, _INSISTENCE = 3.0, 0.6
"""Seconds a server has to end once its input is closed, and once it is told to."""


class End(Protocol):
    """One side: lines come from it, and are sent to it."""

    def lines(self) -> AsyncIterator[bytes]:
        """Each line that comes, to the end."""
        ...

    async def send(self, line: bytes) -> None:
        """Send one line. Raises InputError for a message that cannot be sent."""
        ...

    async def close(self) -> str:
        """End it; what is to be said of how it ended."""
        ...


class Host:
    """The host, on the pipes that were claimed for it."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._turn = anyio.Lock()

    async def lines(self) -> AsyncIterator[bytes]:
        """Each line of the host, to the end of its pipe."""
        read = partial(anyio.to_thread.run_sync, self._pipes.reader.readline, abandon_on_cancel=True)
        while line := await read():
            yield line

    async def send(self, line: bytes) -> None:
        """Send the host one line."""
        async with self._turn:
            await anyio.to_thread.run_sync(self._write, line)

    def _write(self, line: bytes) -> None:
        self._pipes.writer.write(line + b"\n")
        self._pipes.writer.flush()

    async def close(self) -> str:
        """Nothing is to be closed: the process ends."""
        return ""


async def start(command: Sequence[str], env: Mapping[str, str]) -> LocalServer:
    """Start a server. Raises InputError: it cannot be started."""
    try:
        process = await anyio.open_process(
            [shutil.which(command[0], path=env.get("PATH")) or command[0], *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            start_new_session=os.name == "posix",
        )
    except OSError as error:
        raise InputError(
            f"cannot start {command[0]} ({error.strerror}): give a command that runs an MCP server"
        ) from error
    return LocalServer(process)


class LocalServer:
    """A server that runs as a process of ours, in a session of its own so that all it starts can be ended with it."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self._turn = anyio.Lock()
        self._said = b""
        self._waiting = bytearray()
        self._news = anyio.Event()

    async def lines(self) -> AsyncIterator[bytes]:
        """Each line of the server, until it closes its output."""
        held: list[bytes] = []
        size = 0
        async for chunk in _read(self._process.stdout):
            first, *rest = chunk.split(b"\n")
            held.append(first)
            size += len(first)
            for part in rest:
                yield b"".join(held)
                held, size = [part], len(part)
            if size > _LONGEST:
                return
        if size:
            yield b"".join(held)

    async def send(self, line: bytes) -> None:
        """Send the server one line; one that is gone takes none, and its end is noticed elsewhere."""
        assert self._process.stdin is not None
        async with self._turn:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError, ConnectionResetError):
                await self._process.stdin.send(line + b"\n")

    async def pass_errors(self) -> None:
        """Pass the server's standard error on, as far as somebody reads ours; the server never waits for that."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write_errors)
            async for chunk in _read(self._process.stderr):
                self._said = (self._said + chunk)[-4 * _WORDS :]
                if len(self._waiting) < _TOLD:
                    self._waiting += chunk
                    self._news.set()
            tasks.cancel_scope.cancel()

    async def _write_errors(self) -> None:
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            said, self._waiting = bytes(self._waiting), bytearray()
            await anyio.to_thread.run_sync(_write_stderr, said, abandon_on_cancel=True)

    async def close(self) -> str:
        """Close the server's input, give it time to end, then end it. What there is to say of its end."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            assert self._process.stdin is not None
            await self._process.stdin.aclose()
        with anyio.move_on_after(_PATIENCE):
            await self._process.wait()
        await self.end()
        words = " ".join(self._said.decode("utf-8", "replace").split())[-_WORDS:]
        told = f"the wrapped server ended with exit code {self._process.returncode}"
        return f"{told}; it said last: {words}" if words else told

    async def end(self) -> None:
        """End the server, if it still runs: it is told to, then killed."""
        with anyio.CancelScope(shield=True):
            for name in ("SIGTERM", "SIGKILL"):
                self._signal(name)
                with anyio.move_on_after(_INSISTENCE):
                    await self._process.wait()
                    break

    def _signal(self, name: str) -> None:
        """Signal the server and what it started: the group that it leads, and none that we are in."""
        process = self._process
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            if os.name == "posix" and os.getpgid(process.pid) == process.pid != os.getpgrp():
                os.killpg(process.pid, getattr(signal, name))
            elif name == "SIGKILL":
                process.kill()
            else:
                process.terminate()


async def _read(stream: anyio.abc.ByteReceiveStream | None) -> AsyncIterator[bytes]:
    assert stream is not None
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            yield await stream.receive(_CHUNK)


def _write_stderr(said: bytes) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.buffer.write(said)
        sys.stderr.buffer.flush()
