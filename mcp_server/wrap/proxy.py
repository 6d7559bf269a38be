"""Serves a host in place of one MCP server: passes lines on as they are, and records what the server's tools return.

Only the answers to `tools/call` and `tools/list` change. A line that cannot be parsed (bytes that are not UTF-8, JSON
nested too deep) passes as well, and so does a method that no SDK knows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn
from uuid import uuid4

import anyio
import anyio.abc
import anyio.to_thread
from anyio.streams.memory import MemoryObjectSendStream
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

from ctxfold.errors import CtxfoldError
from ctxfold.text.json import parse_object
from mcp_server.transport.stdio import Pipes, run_until_end
from mcp_server.wrap.ends import CLOSE_SECONDS, GONE, WrappedServer, WrapTarget, connect_server, explain_group
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

Message = Mapping[str, Any]
"""A JSON-RPC message."""


def run_wrap(target: WrapTarget, keeper: Keeper, pipes: Pipes) -> NoReturn:
    """Serve one host, then end the process.

    The exit code is 0 when the host is gone, 1 when the server ended first, 3 when it cannot be reached, and 128 + n
    after signal n.
    """
    proxy = Proxy(target, keeper, pipes)
    run_until_end(proxy.run, proxy.close)


def warn(text: str) -> None:
    """Write to standard error, each line marked as ours."""
    sys.stderr.write("".join(f"ctxfold wrap: {line}\n" for line in text.split("\n")))
    sys.stderr.flush()


class Proxy:
    """One host and one server."""

    def __init__(self, target: WrapTarget, keeper: Keeper, pipes: Pipes) -> None:
        self._target = target
        self._keeper = keeper
        self._pipes = pipes
        self._tools = ServerTools()
        self._server: WrappedServer | None = None
        self._connected = anyio.Event()
        self._ended = anyio.Event()
        self._unanswered: dict[str | int, Message] = {}
        self._own: dict[str | int, MemoryObjectSendStream[Message]] = {}
        self._is_host_gone = False
        self._is_stuck = False
        self._keeping = anyio.Lock()
        self._writing = anyio.Lock()

    async def run(self) -> int:
        """Serve until either side is gone. Returns the exit code."""
        code = 0
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as answers:  # the end waits for the answers under way
                tasks.start_soon(self._read_host, tasks.cancel_scope, answers)
                code = await self._read_server(answers)
            tasks.cancel_scope.cancel()
        return 0 if self._is_host_gone else code

    async def close(self) -> None:
        """End the server and close the session."""
        if self._server is not None:
            await self._server.kill()
        if not self._is_stuck:
            await anyio.to_thread.run_sync(self._keeper.close)

    async def _read_host(self, serving: anyio.CancelScope, answers: anyio.abc.TaskGroup) -> None:
        """Pass the host's lines on until it is gone, then let the server end. Calls of our tool are answered here."""
        with suppress(*GONE):
            while line := await anyio.to_thread.run_sync(self._pipes.reader.readline, abandon_on_cancel=True):
                message = parse_object(line)
                call = _read_call(message)
                if call is not None and call.name == self._tools.recall_name:
                    answers.start_soon(self._recall, message, line)
                elif line.strip():
                    await self._send(line, message)
        self._is_host_gone = True
        with anyio.move_on_after(CLOSE_SECONDS):
            await self._connected.wait()
            if self._server is not None:
                await self._server.close()
            await self._ended.wait()
        serving.cancel()

    async def _send(self, line: bytes, message: Message) -> None:
        """Send a line to the server once it is connected. A request is noted, to be refused if no answer comes."""
        number = message.get("id")
        if "method" in message and isinstance(number, str | int):
            self._unanswered[number] = message
        await self._connected.wait()
        with suppress(*GONE):
            if self._server is not None and not await self._server.send(line.rstrip(b"\r\n")):
                await self._refuse(number, PARSE_ERROR, "this is no JSON-RPC message, so it cannot be sent over HTTP")

    async def _read_server(self, answers: anyio.abc.TaskGroup) -> int:
        """Pass the server's lines on until it ends, then refuse the requests left open. Returns the exit code."""
        code, reason = _FAILED, ""
        try:
            async with connect_server(self._target) as self._server:
                self._connected.set()
                async for line in self._server.read_lines():
                    await self._pass_line(line.rstrip(b"\r\n"), answers)
                code, reason = 1, await self._server.end()
        except* (CtxfoldError, OSError, *GONE) as failed:
            reason = explain_group(failed)
        self._connected.set()
        self._ended.set()
        if not self._is_host_gone:
            warn(reason)
        for number in tuple(self._unanswered):
            await self._refuse(number, CONNECTION_CLOSED, reason)
        return code

    async def _pass_line(self, line: bytes, answers: anyio.abc.TaskGroup) -> None:
        """Pass a line of the server on. A tool's result is recorded and shortened first, in a task of its own."""
        message = parse_object(line)
        number, result = message.get("id"), message.get("result")
        request: Message = {}
        if "method" not in message and isinstance(number, str | int):
            if number in self._own:
                self._own.pop(number).send_nowait(message)
                return
            request = self._unanswered.pop(number, {})
        call = _read_call(request)
        if call is not None and isinstance(result, dict) and "content" in result:
            answers.start_soon(self._keep, call, request, message, line)
        elif request.get("method") == "tools/list" and isinstance(result, dict):
            self._tools.add_page(result)
            await self._answer(message | {"result": self._tools.announce(result)})
        elif line:
            await self._write(line)

    async def _keep(self, call: ToolCall, request: Message, answer: dict[str, Any], line: bytes) -> None:
        """Record a result and bound it, then pass it on. It passes as it is if anything of ours fails."""
        result = answer["result"]
        if self._keeper.is_long(result):
            await self._list_tools(request)
        short = await self._work(lambda: self._keeper.keep(call, result, self._tools))
        await (self._write(line) if short is None else self._answer(answer | {"result": short}))

    async def _recall(self, request: Message, line: bytes) -> None:
        """Answer a call of our tool; pass it on if the server has a tool of that name."""
        await self._list_tools(request)
        call = _read_call(request)
        if call is None or call.name != self._tools.recall_name:
            await self._send(line, request)
            return
        result = await self._work(lambda: self._keeper.recall(call))
        if result is None:
            await self._refuse(request["id"], CONNECTION_CLOSED, "the kept results cannot be read now: try again")
        else:
            await self._answer({"jsonrpc": "2.0", "id": request["id"], "result": result})

    async def _list_tools(self, request: Message) -> None:
        """Ask the server for its tools if the host has not, in the host's protocol. Without an answer we go on."""
        meta = request["params"].get("_meta")
        kept = dict(meta) if isinstance(meta, dict) else {}
        kept.pop("progressToken", None)
        params: dict[str, Any] = {"_meta": kept} if kept else {}
        with anyio.move_on_after(_LIST_SECONDS):
            for _ in range(0 if self._tools.is_complete else _MAX_PAGES):
                number = f"{_OWN}-{uuid4().hex}"
                self._own[number], answers = anyio.create_memory_object_stream[Message](1)
                asked = {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params}
                await self._send(json.dumps(asked).encode(), {})
                page = (await answers.receive()).get("result")
                if not isinstance(page, dict):
                    return
                self._tools.add_page(page)
                if self._tools.is_complete:
                    return
                params["cursor"] = page["nextCursor"]

    async def _work(self, work: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
        """Do work of the keeper in a thread, one piece after another. None, and a warning, if it fails or hangs."""
        async with self._keeping:
            if self._is_stuck:
                return None
            try:
                with anyio.fail_after(_KEEP_SECONDS):
                    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            except TimeoutError:
                self._is_stuck = True  # the thread still holds the session
                warn(f"keeping a result took more than {_KEEP_SECONDS:g} s: results pass as they are from now on")
            except Exception as error:  # noqa: BLE001 - the host gets what the server said, whatever fails here
                warn(f"a result passes as it is: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
            return None

    async def _refuse(self, number: object, code: int, message: str) -> None:
        await self._answer({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})

    async def _answer(self, message: Message) -> None:
        await self._write(json.dumps(message).encode())

    async def _write(self, line: bytes) -> None:
        """Write a line to the host."""
        async with self._writing:
            with suppress(*GONE):
                await anyio.to_thread.run_sync(self._pipes.writer.write, line + b"\n")
                await anyio.to_thread.run_sync(self._pipes.writer.flush)


def _read_call(message: Message) -> ToolCall | None:
    """The call of a tool in a request; None for any other message."""
    match message:
        case {"id": str() | int() as number, "method": "tools/call", "params": {"name": str(name), **rest}}:
            arguments = rest.get("arguments")
            return ToolCall(name, arguments if isinstance(arguments, dict) else {}, str(number))
        case _:
            return None
