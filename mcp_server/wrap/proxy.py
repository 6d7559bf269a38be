"""Serves a host in place of one MCP server: the SDK's JSON-RPC server before its client, with results kept in between.

Requests and notifications pass by name and under their own ids, so methods that the SDK does not know pass too. A line
that cannot be parsed (bytes that are not UTF-8, JSON nested too deep) passes as it is, and so does its answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn, cast
from uuid import uuid4

import anyio
import anyio.to_thread
from mcp.shared.dispatcher import CallOptions, coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, ErrorData, JSONRPCError, RequestId

from ctxfold.errors import CtxfoldError
from mcp_server.transport.stdio import Pipes, ServerEnding, leave, scan_envelope, watch_parent
from mcp_server.wrap.ends import (
    CLOSE_SECONDS,
    GONE,
    LineStream,
    RequestHeaders,
    ServerProcess,
    WrapTarget,
    connect_url,
    explain_group,
    open_host,
    start_server,
)
from mcp_server.wrap.keeper import Keeper, ServerTools, ToolCall

_KEEP_SECONDS = 10.0
"""Time that recording one result may take before it passes as it is."""
_LIST_SECONDS = 5.0
"""Time the server has to list its tools when we ask."""
_MAX_PAGES = 50
"""Pages of a listing that we ask for."""
_FAILED = 3
"""The exit code if the server cannot be reached."""
_OWN = "ctxfold-wrap"
"""The start of the ids of our own requests."""
_CANCELLED = "notifications/cancelled"
_CLOSED_TEXT = "Connection closed"
"""The SDK's words for a connection that ended."""


def run_wrap(target: WrapTarget, keeper: Keeper, pipes: Pipes) -> NoReturn:
    """Serve one host, then end the process.

    The exit code is 0 when the host is gone, 1 when the server ended first, 3 when it cannot be reached, and 128 + n
    after signal n.
    """
    leave(anyio.run(_run, target, keeper, pipes))


async def _run(target: WrapTarget, keeper: Keeper, pipes: Pipes) -> int:
    ending, codes = ServerEnding(), list[int]()
    with ending.on_signals():
        async with anyio.create_task_group() as tasks:

            async def leave_when_asked() -> None:
                codes.append(await ending.wait())
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave_when_asked)
            tasks.start_soon(watch_parent, ending)
            codes.append(await Proxy(target, keeper, pipes).run())
            tasks.cancel_scope.cancel()
    if keeper.settings.measure:
        warn(keeper.meter.describe())
    with anyio.move_on_after(1):
        await anyio.to_thread.run_sync(keeper.close, abandon_on_cancel=True)
    return codes[0]


def warn(text: str) -> None:
    """Write to standard error, each line marked as ours."""
    sys.stderr.write("".join(f"ctxfold wrap: {line}\n" for line in text.split("\n")))
    sys.stderr.flush()


class Proxy:
    """One host and one server."""

    def __init__(self, target: WrapTarget, keeper: Keeper, pipes: Pipes) -> None:
        self._target = target
        self._keeper = keeper
        self._tools = ServerTools()
        self._headers = RequestHeaders()
        self._host_lines = open_host(pipes)
        self._host = _make_dispatcher(self._host_lines)
        self._process: ServerProcess | None = None
        self._server: JSONRPCDispatcher
        self._connected = anyio.Event()
        self._ended = anyio.Event()
        self._end_text = ""
        self._forwarded: dict[RequestId, tuple[Any, anyio.CancelScope]] = {}
        self._answering = 0
        self._is_host_gone = False
        self._is_stuck = False
        self._one_at_a_time = anyio.CapacityLimiter(1)

    async def run(self) -> int:
        """Serve until either side is gone. Returns the exit code."""
        code = 0
        async with anyio.create_task_group() as tasks:
            server_scope = anyio.CancelScope()

            async def serve_host() -> None:
                with suppress(*GONE):
                    await self._host.run(self._answer_host, self._notify_server)
                self._is_host_gone = True
                with anyio.move_on_after(CLOSE_SECONDS):
                    await self._close_server()
                server_scope.cancel()

            tasks.start_soon(serve_host)
            with server_scope:
                code = await self._serve_server()
                if not self._is_host_gone:
                    warn(self._end_text)
                with anyio.move_on_after(_KEEP_SECONDS):
                    while self._answering:  # noqa: ASYNC110 - the SDK's tasks report their end to nobody
                        await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        return 0 if self._is_host_gone else code

    async def _close_server(self) -> None:
        """Let a server that we started end by itself."""
        await self._connected.wait()
        if self._process is not None:
            await self._process.close()
            await self._ended.wait()

    async def _serve_server(self) -> int:
        """Connect to the server and serve it until it ends. Returns the exit code that its end means."""
        code = _FAILED
        try:
            async with connect_url(self._target) if self._target.url else start_server(self._target) as server:
                if isinstance(server, ServerProcess):
                    self._process = server
                    self._server = _make_dispatcher(server.lines)
                    self._host_lines.pass_on, server.lines.pass_on = server.lines.write, self._pass_to_host
                else:
                    self._server, self._host_lines.pass_on = JSONRPCDispatcher(*server), self._refuse_line
                async with anyio.create_task_group() as tasks:
                    await tasks.start(self._server.run, self._ask_host, self._notify_host)
                    self._connected.set()
                self._end_text = f"the connection to {self._target.url} ended"
                if isinstance(server, ServerProcess):
                    self._end_text = await server.end()
            code = 1
        except* (CtxfoldError, OSError, *GONE) as failed:
            self._end_text = explain_group(failed)
        self._connected.set()
        self._ended.set()
        return code

    async def _answer_host(self, context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Answer a request of the host: ourselves if it is a call of our tool, else with the server's answer."""
        self._answering += 1
        try:
            call = _read_call(context.request_id, params) if method == "tools/call" else None
            if call is not None and call.name == self._tools.recall_name:
                await self._list_tools(params)
                if call.name == self._tools.recall_name:  # the server has no tool of that name
                    return await self._recall(call)
            result = await self._forward(context, method, params)
            self._headers.learn(result)
            if method == "tools/list":
                self._tools.add_page(result)
                return self._tools.announce(result)
            if call is not None and "content" in result:
                return await self._keep(call, result, params)
            return result
        finally:
            self._answering -= 1

    async def _forward(self, context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """The server's result. Raises MCPError: the server's error, or how it ended."""
        await self._connected.wait()
        key = coerce_request_id(context.request_id)
        scope = anyio.CancelScope()
        self._forwarded[key] = (context, scope)
        result: dict[str, Any] = {}
        try:
            with scope:
                result = await self._send(context.request_id, method, params)
        finally:
            self._forwarded.pop(key, None)
        return result

    async def _send(self, number: RequestId, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Send a request to the server. Raises MCPError: the server's error, or how it ended."""
        expected = self._process.lines.expected if self._process else set[RequestId]()
        expected.add(coerce_request_id(number))
        try:
            if self._ended.is_set():
                raise MCPError(CONNECTION_CLOSED, self._end_text)
            options: CallOptions = {"request_id": number, "headers": self._headers.make(method, params)}
            return await self._server.send_raw_request(method, params, options)
        except MCPError as error:
            if error.code != CONNECTION_CLOSED or error.message != _CLOSED_TEXT:
                raise
            await self._ended.wait()
            raise MCPError(CONNECTION_CLOSED, self._end_text) from error
        finally:
            expected.discard(coerce_request_id(number))

    async def _ask_host(self, context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Pass a request of the server on to the host."""
        key = coerce_request_id(context.request_id)
        self._host_lines.expected.add(key)
        try:
            return await self._host.send_raw_request(method, params, {"request_id": context.request_id})
        finally:
            self._host_lines.expected.discard(key)

    async def _notify_host(self, _context: Any, method: str, params: Mapping[str, Any] | None) -> None:
        if method != _CANCELLED:  # the SDK ends the request, and so cancels the one that was passed on
            await self._host.notify(method, params)

    async def _notify_server(self, _context: Any, method: str, params: Mapping[str, Any] | None) -> None:
        await self._connected.wait()
        if method != _CANCELLED and not self._ended.is_set():
            await self._server.notify(method, params, {"headers": self._headers.make(method, params)})

    async def _pass_to_host(self, line: bytes) -> None:
        """Pass on a line of the server that could not be parsed. If it answers a request, the wait for it ends."""
        number = scan_envelope(line.decode("utf-8", "replace"))[1]
        context, scope = self._forwarded.get(coerce_request_id(number or ""), (None, None))
        if context is not None and scope is not None:
            context.cancel_requested.set()
            scope.cancel()
        await self._host_lines.write(line)

    async def _refuse_line(self, line: bytes) -> None:
        """Refuse a line of the host that could not be parsed: HTTP carries no such line."""
        number = scan_envelope(line.decode("utf-8", "replace"))[1]
        error = ErrorData(code=PARSE_ERROR, message="this is no JSON-RPC message, so it cannot be sent over HTTP")
        await self._host_lines.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error)))

    async def _list_tools(self, params: Mapping[str, Any] | None) -> None:
        """Ask the server for its tools if the host has not, in the host's protocol. Without an answer we go on."""
        if self._tools.is_complete:
            return
        meta = dict((params or {}).get("_meta") or {})
        meta.pop("progressToken", None)
        asked: dict[str, Any] = {"_meta": meta} if meta else {}
        with anyio.move_on_after(_LIST_SECONDS), suppress(MCPError):
            for _ in range(_MAX_PAGES):
                page = await self._send(f"{_OWN}-{uuid4().hex}", "tools/list", asked)
                self._headers.learn(page)
                self._tools.add_page(page)
                if not page.get("nextCursor"):
                    return
                asked["cursor"] = page["nextCursor"]

    async def _keep(self, call: ToolCall, result: dict[str, Any], params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Record a result and bound it before it is passed on. It passes as it is if anything of ours fails."""
        if self._keeper.is_long(result):
            await self._list_tools(params)
        return await self._work(lambda: self._keeper.keep(call, result, self._tools)) or result

    async def _recall(self, call: ToolCall) -> dict[str, Any]:
        result = await self._work(lambda: self._keeper.recall(call))
        if result is None:
            raise MCPError(CONNECTION_CLOSED, "the kept results cannot be read at the moment: try again")
        return result

    async def _work(self, work: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
        """Do work in a thread, one piece after another. None, and a warning, if it fails or takes too long."""
        if self._is_stuck:
            return None

        def attempt() -> dict[str, Any] | None:
            try:
                return work()
            except Exception as error:  # noqa: BLE001 - the host gets what the server said, whatever fails here
                warn(f"a result passes as it is: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
                return None
            finally:
                self._is_stuck = False

        done: dict[str, Any] | None = None
        with anyio.move_on_after(_KEEP_SECONDS) as patience:
            done = await anyio.to_thread.run_sync(attempt, abandon_on_cancel=True, limiter=self._one_at_a_time)
        if patience.cancelled_caught:
            self._is_stuck = True
            warn(f"keeping a result took more than {_KEEP_SECONDS:g} s: results pass as they are until it is done")
        return done


def _read_call(number: RequestId, params: Mapping[str, Any] | None) -> ToolCall | None:
    name, arguments = (params or {}).get("name"), (params or {}).get("arguments")
    if not isinstance(name, str):
        return None
    return ToolCall(name, arguments if isinstance(arguments, dict) else {}, str(number))


def _make_dispatcher(stream: LineStream) -> JSONRPCDispatcher:
    return JSONRPCDispatcher(cast("Any", stream), cast("Any", stream))
