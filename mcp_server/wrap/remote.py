"""A server at a URL, over the SDK's Streamable HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
from mcp.client._transport import ReadStream, WriteStream
from mcp.client.streamable_http import streamable_http_client
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
from mcp_types import PROTOCOL_VERSION_META_KEY, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

from ctxfold.errors import InputError
from mcp_server.wrap.messages import dump, explain

__all__ = ["RemoteServer", "connect"]

_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The requests whose headers name what they are about, and under which parameter it stands."""


class RemoteServer:
    """A server at the other end of the SDK's streams."""

    def __init__(
        self, url: str, incoming: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage]
    ) -> None:
        self._url = url
        self._incoming = incoming
        self._outgoing = outgoing
        self._version = ""
        self._mirrored: dict[str, Mapping[tuple[str, ...], str]] = {}

    async def lines(self) -> AsyncIterator[bytes]:
        """Each message of the server, as a line. What cannot be read is left out: the transport has answered for it."""
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            async for received in self._incoming:
                if isinstance(received, SessionMessage):
                    data = received.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                    self._learn(data.get("result"))
                    yield dump(data)

    async def send(self, line: bytes) -> None:
        """Send one message, with the headers of its era. Raises InputError: it is no message that HTTP can carry."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            raise InputError("that is no JSON-RPC message: give it an id that is text or a number") from error
        if isinstance(message, JSONRPCNotification) and "id" in json.loads(line):
            raise InputError("an id is text or a whole number")
        data = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        metadata = ClientMessageMetadata(headers=self._make_headers(data))
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._outgoing.send(SessionMessage(message, metadata))

    async def close(self) -> str:
        """What there is to say: the connection ends with its context."""
        return f"the connection to {self._url} ended"

    def _make_headers(self, data: Mapping[str, Any]) -> dict[str, str] | None:
        """What a request repeats in its headers: in the 2026 protocol what it asks for, before that the version that was agreed on."""
        method, params = data.get("method"), data.get("params") or {}
        version = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str) or not isinstance(method, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version and method != "initialize" else None
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            headers |= mcp_param_headers(self._mirrored.get(name, {}), params.get("arguments") or {})
        return headers

    def _learn(self, result: object) -> None:
        """Remember the version that was agreed on, and which arguments of which tool headers repeat."""
        match result:
            case {"protocolVersion": str(version)}:
                self._version = version
            case {"tools": [*tools]}:
                for tool in tools:
                    schema = tool.get("inputSchema")
                    if find_invalid_x_mcp_header(schema) is None:
                        self._mirrored[tool["name"]] = x_mcp_header_map(schema)
            case _:
                pass


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str]) -> AsyncIterator[RemoteServer]:
    """A connection to a server; it is made at the first message. Raises InputError: that is no URL of a server."""
    if httpx2.URL(url).scheme not in ("http", "https"):
        raise InputError(f"{url} is no address of a server: give http:// or https://")
    try:
        async with (
            create_mcp_http_client(headers=dict(headers)) as client,
            streamable_http_client(url, http_client=client, max_sse_event_size=None) as (incoming, outgoing),
        ):
            yield RemoteServer(url, incoming, outgoing)
    except* httpx2.HTTPError as failed:
        raise InputError(
            f"{url} cannot be reached ({explain(failed)}): start the server there, or give another address"
        ) from failed
