"""Serves over stdio until the host closes standard input, a signal asks to end, or the parent process is gone.

Left alone the SDK dies of SIGTERM without cleaning up and sleeps through SIGINT until stdin closes, because the thread that reads stdin can't be
woken. So the process is ended here, after the pools are closed, or without that when it takes too long: all is committed, nothing is lost.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from types import FrameType
from typing import Any, BinaryIO, NamedTuple, NoReturn, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
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
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.server import CtxfoldServer
from mcp_server.sessions.pool import Pools

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


_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Pipes(NamedTuple):
    """The host's two pipes, on descriptors that nothing else in the process knows."""

    reader: BinaryIO
    writer: BinaryIO


def claim_pipes() -> Pipes:
    """Take stdin and stdout for the protocol: from here on standard input is empty and standard output is stderr.

    Nothing is flushed first: what was printed before but still waits in a buffer then goes to stderr as well.

    Raises:
        OSError: a standard stream is closed, so there is no host to talk to.
    """
    pipes = Pipes(os.fdopen(os.dup(_STDIN), "rb"), os.fdopen(os.dup(_STDOUT), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _STDIN)
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # stderr is closed
        os.dup2(nothing, _STDOUT)
    os.close(nothing)
    return pipes


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(r'\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,18}(?![\d.eE]))?')
_LONGEST = 200
"""Characters of an id that is sent back."""


class _Envelope(NamedTuple):
    """The outermost level of a line: its keys, and its id where that is one."""

    keys: frozenset[str]
    id: RequestId | None


def refuse_line(line: str) -> JSONRPCError | None:
    """The answer to a line that is no message; None for one that is, and for what nobody waits for an answer to."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        broken = (
            error.errors(include_url=False, include_context=False, include_input=False)[0]["type"] == "json_invalid"
        )
        envelope = _read_envelope(line)
        if not line.strip() or "result" in envelope.keys or "error" in envelope.keys:
            return None
        if broken:
            return _answer(
                envelope.id,
                PARSE_ERROR,
                "this is no JSON that can be read: nested too deep, cut short, or with half a character in a text; send it put right",
            )
        return _answer(
            envelope.id,
            INVALID_REQUEST,
            "this is no request: it needs jsonrpc 2.0, a method and, where there are any, params as an object",
        )
    if isinstance(message, JSONRPCNotification) and '"id"' in line and "id" in _read_envelope(line).keys:
        return _answer(None, INVALID_REQUEST, "the id of a request is a text or a whole number")
    return None


def _answer(number: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))


def _read_envelope(line: str) -> _Envelope:
    """The outermost level, found without reading what is nested in it: that may be what cannot be read."""
    depth, keys = 0, set[str]()
    number: RequestId | None = None
    for token in _TOKEN.finditer(line):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif depth == 1 and (value := _SCALAR.match(line, token.end())):
            keys.add(mark[1:-1])
            if mark == '"id"' and value[1] and len(value[1]) <= _LONGEST:
                number = _read_id(value[1])
    return _Envelope(frozenset(keys), number)


def _read_id(text: str) -> RequestId | None:
    try:
        found = json.loads(text)
        str(found).encode()
    except ValueError:
        return None
    return int(found) if isinstance(found, int) else str(found)


_CLOSING = 1.0
"""Seconds for closing what is open."""


def run_stdio(pools: Pools, server: CtxfoldServer, pipes: Pipes) -> NoReturn:
    """Serve one host over its pipes, then end the process: 0 when the host closed stdin or is gone, 128 + n after signal n."""
    anyio.run(_serve, pools, server, pipes)
    raise AssertionError("the process ends inside")


async def _serve(pools: Pools, server: CtxfoldServer, pipes: Pipes) -> None:
    ending = Ending()
    with ending.on_signals():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_answer_host, server, pipes, ending)
            tasks.start_soon(watch_parent, ending)
            code = await ending.wait()
            with anyio.move_on_after(_CLOSING):
                await pools.close()
            leave(code)


async def _answer_host(server: CtxfoldServer, pipes: Pipes, ending: Ending) -> None:
    """Answer the host until it closes its end; a pipe that breaks says the same as one that ends."""
    text = anyio.wrap_file(TextIOWrapper(pipes.reader, encoding="utf-8", errors="replace"))
    reader = _Lines(text, partial(end_soon, 0))
    writer = anyio.wrap_file(TextIOWrapper(pipes.writer, encoding="utf-8", newline="\n"))
    try:
        async with stdio_server(cast("anyio.AsyncFile[str]", reader), writer) as (incoming, outgoing):
            reader.answer = outgoing.send
            await server.run_between(incoming, outgoing)
    except* (BrokenPipeError, ConnectionResetError):
        ending.begin(0)
    ending.begin(0)


class _Lines:
    """The lines of a stream that are messages, all that the SDK asks of its input. What is none is answered here, through `answer`.

    `ended` is called at the end of the stream, while calls under way are still being ended.
    """

    def __init__(self, file: anyio.AsyncFile[str], ended: Callable[[], None]) -> None:
        self._file = file
        self._ended = ended
        self.answer: Callable[[SessionMessage], Awaitable[None]] | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            refused = refuse_line(line)
            if refused is None:
                yield line
            elif self.answer is not None:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it is ending: nobody is answered
                    await self.answer(SessionMessage(refused))
        self._ended()


_SESSION_BYTES = 16
_ACCEPTED = 202

_Key = tuple[str, str, str]
"""The session, the credential it came with, and the call's id as JSON."""


class CancellationMiddleware:
    """Ends calls that their clients cancel. A body above `largest` bytes is passed on unread; the application refuses it."""

    def __init__(self, app: ASGIApp, largest: int) -> None:
        self._app = app
        self._largest = largest
        self._under_way: dict[_Key, _Call] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a call that is cancelled meanwhile ends as if its client had hung up."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if scope.get("method") != "POST" or (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS):
            await self._app(scope, receive, send)
            return
        read = await _read_body(receive, self._largest)
        method, number, cancelled = _parse_request(read)
        session, credential = headers.get(MCP_SESSION_ID_HEADER, ""), headers.get("authorization", "")
        call = _Call(read, receive, send, names=method == "initialize")
        key = (session, credential, json.dumps(number))
        if session and number is not None:
            self._under_way[key] = call
        try:
            await self._app(scope, call.receive, call.send)
        finally:
            if self._under_way.get(key) is call:
                del self._under_way[key]
        if call.cancelled.is_set():
            await call.end_cancelled(number)
        wanted = self._under_way.get((session, credential, json.dumps(cancelled)))
        if wanted is not None and call.status == _ACCEPTED:
            wanted.cancelled.set()


class _Call:
    """One request on its way through the application, and what was answered so far."""

    def __init__(self, read: Sequence[Message], receive: Receive, send: Send, *, names: bool) -> None:
        self.cancelled = anyio.Event()
        self.status = 0
        self._read = list(read)
        self._receive = receive
        self._send = send
        self._names = names
        self._ended = False

    async def receive(self) -> Message:
        """What the client sent, then whatever comes first: more of it, its going, or its cancellation."""
        if self._read:
            return self._read.pop(0)
        came: list[Message] = [{"type": "http.disconnect"}]
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                came.append(await self._receive())
                tasks.cancel_scope.cancel()

            tasks.start_soon(listen)
            await self.cancelled.wait()
            tasks.cancel_scope.cancel()
        return came[-1]

    async def send(self, message: Message) -> None:
        """Pass an answer on; that to `initialize` with a session id."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._names and self.status == 200:
                MutableHeaders(scope=message)[MCP_SESSION_ID_HEADER] = secrets.token_hex(_SESSION_BYTES)
        elif message["type"] == "http.response.body":
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def end_cancelled(self, number: Any) -> None:
        """End the answer of a cancelled call: its client may still wait for one."""
        if self.status and not self._ended:
            error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
            said = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
            event = f"event: message\r\ndata: {said}\r\n\r\n".encode()
            await self._send({"type": "http.response.body", "body": event, "more_body": False})


async def _read_body(receive: Receive, largest: int) -> list[Message]:
    """The messages of a request's body, to its end or until they are too large."""
    read: list[Message] = []
    size = 0
    while size <= largest:
        message = await receive()
        read.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            break
    return read


def _parse_request(read: Sequence[Message]) -> tuple[str, Any, Any]:
    """The method of a request, its id, and the id of the call it cancels; None where there is none. What is no request has nothing."""
    try:
        request = json.loads(b"".join(message.get("body", b"") for message in read))
    except ValueError:
        return "", None, None
    match request:
        case {"method": "notifications/cancelled", "params": {**params}}:
            return "notifications/cancelled", request.get("id"), params.get("requestId")
        case {**members}:
            return str(members.get("method", "")), members.get("id"), None
        case _:
            return "", None, None
