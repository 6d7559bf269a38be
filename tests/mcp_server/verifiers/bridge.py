"""A server on pipes, over HTTP: `python -m tests.mcp_server.verifiers.bridge PORT COMMAND…`. The conformance suite speaks HTTP alone, and `ctxfold wrap` pipes.

Each session of the 2025 protocol has a process of its own; requests of the 2026 protocol, which has no sessions, share one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import uuid
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
VERSION = "io.modelcontextprotocol/protocolVersion"
LARGEST = 64 * 1024 * 1024


class Backend:
    """One process, and who waits for what it says. Requests are renumbered, so that two clients may both call one 1."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.numbers = itertools.count(1_000_001)
        self.open: dict[int, tuple[object, object, asyncio.Queue[dict[str, Any]]]] = {}
        self.loose: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.reader = asyncio.create_task(self.read())

    @classmethod
    async def start(cls, command: list[str]) -> Backend:
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=LARGEST))

    async def read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.route(json.loads(line))

    def route(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            number, _, queue = self.open.pop(message["id"], (None, None, self.loose))
            queue.put_nowait({**message, "id": number})
            return
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        token, listening = params.get("progressToken"), meta.get(SUBSCRIPTION)
        for ours, (number, known, queue) in reversed(self.open.items()):
            if listening is not None and str(ours) == str(listening):
                meta[SUBSCRIPTION] = str(number) if isinstance(listening, str) else number
                queue.put_nowait(message)
                return
            if listening is None and (known == token if token is not None else known != SUBSCRIPTION):
                queue.put_nowait(message)
                return
        self.loose.put_nowait(message)

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def tell(self, message: dict[str, Any]) -> None:
        """Pass on what wants no answer; a cancellation under our number."""
        if message.get("method") == "notifications/cancelled":
            wanted = message["params"].get("requestId")
            ours = next((ours for ours, (number, _, _) in self.open.items() if number == wanted), wanted)
            message = {**message, "params": {**message["params"], "requestId": ours}}
        self.send(message)

    async def ask(self, message: dict[str, Any]) -> AsyncIterator[str]:
        """What comes for a request, to its answer, as events."""
        ours, queue = next(self.numbers), asyncio.Queue[dict[str, Any]]()
        meta = (message.get("params") or {}).get("_meta") or {}
        token = SUBSCRIPTION if message["method"] == "subscriptions/listen" else meta.get("progressToken")
        self.open[ours] = (message["id"], token, queue)
        self.send({**message, "id": ours})
        try:
            while ours in self.open or not queue.empty():
                yield event(await queue.get())
        finally:
            if self.open.pop(ours, None):
                self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ours}})


def event(message: dict[str, Any]) -> str:
    return f"event: message\ndata: {json.dumps(message)}\n\n"


def app(command: list[str]) -> Starlette:
    """The bridge as an application."""
    backends: dict[str, Backend] = {}

    async def post(request: Request) -> Response:
        message = await request.json()
        name = request.headers.get("mcp-session-id", "")
        if message.get("method") == "initialize":
            name = uuid.uuid4().hex
        headers = {"mcp-session-id": name} if name else {}
        if name and name not in backends and message.get("method") != "initialize":
            return Response(status_code=404)
        meta = (message.get("params") or {}).get("_meta") or {}
        name = name or ("of 2026" if VERSION in meta else "of neither")
        if name not in backends:
            backends[name] = await Backend.start(command)
        if "method" in message and "id" in message:
            return StreamingResponse(backends[name].ask(message), media_type="text/event-stream", headers=headers)
        backends[name].tell(message)
        return Response(status_code=202, headers=headers)

    async def get(request: Request) -> Response:
        backend = backends.get(request.headers.get("mcp-session-id", ""))
        if backend is None:
            return Response(status_code=405)

        async def events() -> AsyncIterator[str]:
            while True:
                yield event(await backend.loose.get())

        return StreamingResponse(events(), media_type="text/event-stream")

    async def delete(request: Request) -> Response:
        backend = backends.pop(request.headers.get("mcp-session-id", ""), None)
        if backend is not None and backend.process.stdin is not None:
            backend.process.stdin.close()
        return JSONResponse({})

    routes = [Route("/mcp", made, methods=[made.__name__.upper()]) for made in (post, get, delete)]
    return Starlette(routes=routes)


if __name__ == "__main__":
    uvicorn.run(app(sys.argv[2:]), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
