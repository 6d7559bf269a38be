"""The wrapped server as lines: a process that we start, or a server over HTTP through the SDK's client."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.abc
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY, JSONRPCNotification, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from ctxfold.errors import InputError
from ctxfold.text.json import parse_object

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


class ProcessServer:
    """A server that runs as our process, in a session of its own, so that whatever it starts can be ended with it."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._input = process.stdin
        self._output = BufferedByteReceiveStream(process.stdout)

    async def read_lines(self) -> AsyncIterator[bytes]:
        """What it writes, line by line, until it ends."""
        with suppress(anyio.IncompleteRead, anyio.EndOfStream, anyio.DelimiterNotFound, *GONE):
            while True:
                yield await self._output.receive_until(b"\n", _MAX_LINE)

    async def send(self, line: bytes) -> bool:
        """Send a line. Returns whether it can carry one of its form."""
        await self._input.send(line + b"\n")
        return True

    async def close(self) -> None:
        """Close the server's input, which asks it to end."""
        with suppress(*GONE, OSError):
            await self._input.aclose()

    async def end(self) -> str:
        """Close the server's input and wait for its end, or bring it about. Returns how it ended, in words."""
        await self.close()
        with anyio.move_on_after(CLOSE_SECONDS):
            await self._process.wait()
        await self.kill()
        return f"the wrapped server ended with exit code {self._process.returncode}; its words are on standard error"

    async def kill(self) -> None:
        """End the server with its children, whatever still runs: SIGTERM, then SIGKILL."""
        with anyio.CancelScope(shield=True):
            if os.name == "posix":
                await terminate_posix_process_tree(self._process, _TERM_SECONDS)
            elif self._process.returncode is None:
                self._process.kill()
            with anyio.move_on_after(_TERM_SECONDS):
                await self._process.wait()


class HttpServer:
    """A server over HTTP, between the SDK's two streams."""

    def __init__(self, url: str, incoming: Any, outgoing: Any) -> None:
        self._url = url
        self._incoming = incoming
        self._outgoing = outgoing
        self._version = ""
        self._mirrored: dict[str, Mapping[tuple[str, ...], str]] = {}

    async def read_lines(self) -> AsyncIterator[bytes]:
        """What it sends, a message a line, until the connection ends."""
        with suppress(*GONE):
            async for item in self._incoming:
                if isinstance(item, SessionMessage):
                    if isinstance(item.message, JSONRPCResponse):
                        self._learn(item.message.result)
                    yield item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()

    async def send(self, line: bytes) -> bool:
        """Send a line. Returns whether it is a message: HTTP carries nothing else."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            return False
        if isinstance(message, JSONRPCNotification) and "id" in parse_object(line):
            return False  # a request whose id is no id
        headers = self._make_headers(getattr(message, "method", ""), getattr(message, "params", None) or {})
        await self._outgoing.send(SessionMessage(message, ClientMessageMetadata(headers=headers)))
        return True

    async def close(self) -> None:
        """End the connection."""
        await self._incoming.aclose()

    kill = close

    async def end(self) -> str:
        """Say in words that the connection ended."""
        return f"the connection to {self._url} ended"

    def _make_headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        """The headers of a request: in the 2026 protocol method and name, before that the version agreed on."""
        version = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version and method != "initialize" else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            headers |= mcp_param_headers(self._mirrored.get(name, {}), params.get("arguments") or {})
        return headers

    def _learn(self, result: Mapping[str, Any]) -> None:
        """Remember the version that was agreed on, and which arguments of which tool headers repeat."""
        if isinstance(result.get("protocolVersion"), str):
            self._version = result["protocolVersion"]
        for tool in result["tools"] if isinstance(result.get("tools"), list) else ():
            schema = tool.get("inputSchema")
            if find_invalid_x_mcp_header(schema) is None:
                self._mirrored[tool["name"]] = x_mcp_header_map(schema)


WrappedServer = ProcessServer | HttpServer


@asynccontextmanager
async def connect_server(target: WrapTarget) -> AsyncIterator[WrappedServer]:
    """The server for the block. A process is ended with it, and its standard error is ours.

    Raises InputError: it cannot be started, the URL is malformed, or nothing answers there.
    """
    if target.url:
        async with _connect_url(target) as remote:
            yield remote
        return
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
    server = ProcessServer(process)
    try:
        yield server
    finally:
        await server.kill()


@asynccontextmanager
async def _connect_url(target: WrapTarget) -> AsyncIterator[HttpServer]:
    url = target.url
    if httpx2.URL(url).scheme not in ("http", "https"):
        raise InputError(f"{url} is no address of a server: give http:// or https://")
    try:
        async with (
            create_mcp_http_client(headers=dict(target.headers or {})) as client,
            streamable_http_client(url, http_client=client, max_sse_event_size=None) as streams,
        ):
            yield HttpServer(url, *streams)
    except* httpx2.HTTPError as failed:
        raise InputError(
            f"{url} cannot be reached ({explain_group(failed)}): start the server there, or give another address"
        ) from failed


def explain_group(failed: BaseException) -> str:
    """An error on one line, out of the groups it came in."""
    while isinstance(failed, BaseExceptionGroup):
        failed = failed.exceptions[0]
    return " ".join(str(failed).split()) or type(failed).__name__
