"""Serves over stdio until the host closes standard input, a signal asks to end, or the parent process is gone.

By itself the SDK dies of SIGTERM without cleaning up, and sleeps through SIGINT until stdin closes, because the thread
that reads stdin can't be woken. So the process is ended here after the pools are closed, or without closing them when
that takes too long: everything is committed by then.
"""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from ctxfold.text.json import parse_object

if TYPE_CHECKING:
    from mcp_server.server import CtxfoldServer

_LEAVE_SECONDS = 1.5
"""Time to close everything in order; then the process ends whatever it is doing. Hosts kill a server after two."""
_CLOSE_SECONDS = 1.0
"""Time to close browsers and sessions, within the one above."""
_PARENT_SECONDS = 0.5
"""Time between two looks at whether the parent still lives."""
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def leave(code: int) -> NoReturn:
    """End the process at once. Whatever must be closed has been closed."""
    sys.stderr.flush()
    os._exit(code)


def end_soon(code: int) -> None:
    """End the process with this code once the time to leave in order is over, whatever it is doing then."""
    timer = threading.Timer(_LEAVE_SECONDS, os._exit, args=(code,))
    timer.daemon = True
    timer.start()


class Pipes(NamedTuple):
    """The host's two pipes, on descriptors that nothing else in the process knows."""

    reader: BinaryIO
    writer: BinaryIO


def claim_pipes() -> Pipes:
    """Take stdin and stdout for the protocol. Afterwards standard input is empty and standard output is stderr.

    Nothing is flushed first: text that was printed before and still waits in a buffer goes to stderr too.

    Raises:
        OSError: a standard stream is closed, so nobody is there to talk to.
    """
    pipes = Pipes(os.fdopen(os.dup(_STDIN), "rb"), os.fdopen(os.dup(_STDOUT), "wb"))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, _STDIN)
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # stderr is closed
        os.dup2(null, _STDOUT)
    os.close(null)
    return pipes


def run_until_end(serve: Callable[[], Awaitable[int]], close: Callable[[], Awaitable[None]]) -> NoReturn:
    """Serve until it is over, a signal asks to leave or the parent is gone; then close, and end the process.

    The exit code is what `serve` returns, 0 when the parent is gone, or 128 + n after signal n.
    """
    anyio.run(_serve_until_end, serve, close)
    raise AssertionError("the process ends inside")


async def _serve_until_end(serve: Callable[[], Awaitable[int]], close: Callable[[], Awaitable[None]]) -> None:
    token = anyio.lowlevel.current_token()
    reasons, codes = anyio.create_memory_object_stream[int](math.inf)

    def leave_on_signal(number: int, _frame: FrameType | None) -> None:
        end_soon(128 + number)  # the loop may be asleep, so another thread wakes it
        wake = partial(anyio.from_thread.run_sync, reasons.send_nowait, 128 + number, token=token)
        threading.Thread(target=wake, daemon=True).start()

    async def serve_to_end() -> None:
        reasons.send_nowait(await serve())

    async def watch_parent() -> None:
        parent = os.getppid()
        while os.getppid() == parent:  # noqa: ASYNC110 - no system call reports it on every system
            await anyio.sleep(_PARENT_SECONDS)
        reasons.send_nowait(0)  # the parent was killed while another process holds our stdin open

    for number in _SIGNALS:
        signal.signal(number, leave_on_signal)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_to_end)
        tasks.start_soon(watch_parent)
        code = await codes.receive()
        end_soon(code)
        with anyio.move_on_after(_CLOSE_SECONDS):
            await close()
        leave(code)  # inside: a thread that reads stdin would hold up the end of the task group


async def serve_pipes(server: CtxfoldServer, pipes: Pipes) -> int:
    """Answer a host until its pipe ends or breaks. Returns the exit code."""
    text = anyio.wrap_file(TextIOWrapper(pipes.reader, encoding="utf-8", errors="replace"))
    reader = _HostLines(text, partial(end_soon, 0))
    writer = anyio.wrap_file(TextIOWrapper(pipes.writer, encoding="utf-8", newline="\n"))
    try:
        async with stdio_server(cast("anyio.AsyncFile[str]", reader), writer) as (incoming, outgoing):
            reader.answer = outgoing.send
            await server.run_between(incoming, outgoing)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the host is gone
    return 0


class _HostLines:
    """The host's lines that are messages, which is all that the SDK reads. Others are refused here through `answer`.

    `on_end` is called at the end of the stream, while calls under way are still being ended.
    """

    def __init__(self, file: anyio.AsyncFile[str], on_end: Callable[[], None]) -> None:
        self._file = file
        self._on_end = on_end
        self.answer: Callable[[SessionMessage], Awaitable[None]] | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            refusal = refuse_line(line)
            if refusal is None:
                yield line
            elif self.answer is not None:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the host is gone
                    await self.answer(SessionMessage(refusal))
        self._on_end()


_UNREADABLE = (
    "this JSON cannot be read: it is nested too deep, is cut short, or has half a character in a text; "
    "correct it and send it again"
)
_NO_REQUEST = "this is no request: send jsonrpc 2.0, a method and, if there are any, params as an object"
_BAD_ID = "the id of a request must be a text or a whole number"


def refuse_line(line: str) -> JSONRPCError | None:
    """The error that answers a malformed line; None for a message, and for a line that needs no answer.

    The error has the line's id, or null if the line cannot be parsed or its id is malformed.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        given = parse_object(line)
        if not line.strip() or "result" in given or "error" in given:
            return None
        if error.errors(include_url=False, include_context=False, include_input=False)[0]["type"] == "json_invalid":
            return _make_error(given.get("id"), PARSE_ERROR, _UNREADABLE)
        return _make_error(given.get("id"), INVALID_REQUEST, _NO_REQUEST)
    if isinstance(message, JSONRPCNotification) and "id" in parse_object(line):
        return _make_error(None, INVALID_REQUEST, _BAD_ID)
    return None


def _make_error(number: object, code: int, message: str) -> JSONRPCError:
    is_text = isinstance(number, str) and not _HALF_CHARACTER.search(number)
    is_id = is_text or (isinstance(number, int) and not isinstance(number, bool))
    error = ErrorData(code=code, message=message)
    return JSONRPCError(jsonrpc="2.0", id=cast("RequestId", number) if is_id else None, error=error)


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""A lone surrogate, which no message can carry."""
