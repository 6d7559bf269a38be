"""The two ends of the wrapper: the host's lines, a server started as a process, a server over HTTP with its headers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from ctxfold.errors import InputError
from mcp_server.transport.stdio import Pipes, refuse_line

_MAX_LINE = 256 * 1024 * 1024
"""Bytes of one line of the server. A longer one ends the connection."""
CLOSE_SECONDS, _TERM_SECONDS = 3.0, 0.6
"""Time a server has to end after its input is closed, and after SIGTERM."""
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that names a request's object, by method. Headers repeat it."""
GONE = (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""Errors that mean that the other end is gone."""


@dataclass(frozen=True, slots=True)
class WrapTarget:
    """The wrapped server: a command with its environment, or a URL with headers."""

    command: Sequence[str] = ()
    env: Mapping[str, str] | None = None
    url: str = ""
    headers: Mapping[str, str] | None = None


class LineStream:
    """One side's lines as the two streams that the SDK reads and writes.

    Attributes:
        expected: ids of requests that this side is to answer. Another answer passes as it is.
        pass_on: takes a line that passes as it is.
    """

    def __init__(self, lines: AsyncIterator[bytes], write: Callable[[bytes], Awaitable[None]]) -> None:
        self.expected: set[RequestId] = set()
        self.pass_on: Callable[[bytes], Awaitable[None]]
        self._lines = lines
        self._write = write
        self._lock = anyio.Lock()

    async def __aiter__(self) -> AsyncIterator[SessionMessage]:
        async for line in self._lines:
            message = _parse_line(line)
            is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
            if message is None or (is_answer and _get_id(message) not in self.expected):
                if line.strip():
                    await self.pass_on(line.rstrip(b"\r\n"))
            else:
                yield SessionMessage(message)

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        await self.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def write(self, line: bytes) -> None:
        """Write one line."""
        async with self._lock:
            await self._write(line + b"\n")

    async def __aenter__(self) -> LineStream:
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Both streams end with their pipes."""


def _parse_line(line: bytes) -> JSONRPCMessage | None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and refuse_line(line.decode("utf-8", "replace")):
        return None  # a request whose id is no id
    return message


def _get_id(message: Any) -> RequestId | None:
    return None if message.id is None else coerce_request_id(message.id)


def open_host(pipes: Pipes) -> LineStream:
    """The host's lines."""

    async def read() -> AsyncIterator[bytes]:
        while line := await anyio.to_thread.run_sync(pipes.reader.readline, abandon_on_cancel=True):
            yield line

    async def write(line: bytes) -> None:
        await anyio.to_thread.run_sync(pipes.writer.write, line)
        await anyio.to_thread.run_sync(pipes.writer.flush)

    return LineStream(read(), write)


class ServerProcess:
    """A server that runs as our process, in a session of its own, so that whatever it starts can be ended with it."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin is not None
        self.lines = LineStream(self._read(), process.stdin.send)
        self._process = process

    async def _read(self) -> AsyncIterator[bytes]:
        assert self._process.stdout is not None
        reader = BufferedByteReceiveStream(self._process.stdout)
        with suppress(anyio.IncompleteRead, anyio.EndOfStream, anyio.DelimiterNotFound, *GONE):
            while True:
                yield await reader.receive_until(b"\n", _MAX_LINE)

    async def close(self) -> None:
        """Close the server's input, which asks it to end."""
        assert self._process.stdin is not None
        with suppress(*GONE, OSError):
            await self._process.stdin.aclose()

    async def end(self) -> str:
        """Close the server's input and wait for its end, or bring it about. Returns how it ended, in words."""
        await self.close()
        with anyio.move_on_after(CLOSE_SECONDS):
            await self._process.wait()
        await self.kill()
        return f"the wrapped server ended with exit code {self._process.returncode}; its words are on standard error"

    async def kill(self) -> None:
        """End the server with its children, if it still runs: SIGTERM, then SIGKILL."""
        with anyio.CancelScope(shield=True):
            for name in ("SIGTERM", "SIGKILL"):
                if self._process.returncode is None:
                    self._signal(name)
                    with anyio.move_on_after(_TERM_SECONDS):
                        await self._process.wait()

    def _signal(self, name: str) -> None:
        with suppress(ProcessLookupError):
            if os.name == "posix":
                os.killpg(self._process.pid, getattr(signal, name))
            else:
                self._process.kill()


@asynccontextmanager
async def start_server(target: WrapTarget) -> AsyncIterator[ServerProcess]:
    """Start the server for the block. Its standard error is ours. Raises InputError: it cannot be started."""
    command, env = target.command, dict(target.env or {})
    try:
        process = await anyio.open_process(
            [shutil.which(command[0], path=env.get("PATH")) or command[0], *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env=env,
            start_new_session=os.name == "posix",
        )
    except OSError as error:
        raise InputError(
            f"cannot start {command[0]} ({error.strerror}): give a command that runs an MCP server"
        ) from error
    server = ServerProcess(process)
    try:
        yield server
    finally:
        await server.kill()


@asynccontextmanager
async def connect_url(target: WrapTarget) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's streams to a server over HTTP. Raises InputError: the URL is malformed, or nothing answers."""
    url = target.url
    if httpx2.URL(url).scheme not in ("http", "https"):
        raise InputError(f"{url} is no address of a server: give http:// or https://")
    try:
        async with (
            create_mcp_http_client(headers=dict(target.headers or {})) as client,
            streamable_http_client(url, http_client=client, max_sse_event_size=None) as streams,
        ):
            yield streams
    except* httpx2.HTTPError as failed:
        raise InputError(
            f"{url} cannot be reached ({explain_group(failed)}): start the server there, or give another address"
        ) from failed


class RequestHeaders:
    """The headers that a request needs over HTTP: in the 2026 protocol method and name, before that the version."""

    def __init__(self) -> None:
        self._version = ""
        self._mirrored: dict[str, Mapping[tuple[str, ...], str]] = {}

    def make(self, method: str, params: Mapping[str, Any] | None) -> dict[str, str]:
        """The headers of one request."""
        params = params or {}
        version = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version and method != "initialize" else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            headers |= mcp_param_headers(self._mirrored.get(name, {}), params.get("arguments") or {})
        return headers

    def learn(self, result: Mapping[str, Any]) -> None:
        """Remember the version that was agreed on, and which arguments of which tool headers repeat."""
        if isinstance(result.get("protocolVersion"), str):
            self._version = result["protocolVersion"]
        for tool in result["tools"] if isinstance(result.get("tools"), list) else ():
            schema = tool.get("inputSchema")
            if find_invalid_x_mcp_header(schema) is None:
                self._mirrored[tool["name"]] = x_mcp_header_map(schema)


def explain_group(failed: BaseException) -> str:
    """An error on one line, out of the groups it came in."""
    while isinstance(failed, BaseExceptionGroup):
        failed = failed.exceptions[0]
    return " ".join(str(failed).split()) or type(failed).__name__
