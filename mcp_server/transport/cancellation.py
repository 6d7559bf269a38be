"""Cancels calls over HTTP for clients of the 2025 protocol, which ask for it in a separate request.

As the server keeps nothing between two requests, nothing would lead from there to the call. So the answer to `initialize` gives each client a session
id, which it sends along from then on; with it and the call's id the notification finds the call, which is ended as if its client had hung up: that ends
the work. An id that this process does not know, such as one from before a restart, is as good as any.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["CancellationMiddleware"]

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
