"""A server over the test's own store: in memory in both eras of the protocol, or as a process a host would start."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from mcp_server.tools.results import LIMIT

ROOT = Path(__file__).parents[2]
SERVE = "from mcp_server.cli.serve import serve; serve()"
ERAS = ("auto", "legacy")


def said(result: CallToolResult) -> str:
    """All text of a result, its blocks joined by newlines."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """The text of one result, of the session `trip` unless another is named: it is no error and no longer than any may be."""
    result = await client.call_tool(tool, {"session": "trip"} | arguments)
    assert not result.is_error, said(result)
    assert len(said(result)) <= LIMIT
    return said(result)


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The same of its data."""
    result = await client.call_tool(tool, {"session": "trip"} | arguments)
    assert not result.is_error, said(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Each era of the protocol."""
    return str(request.param)


@pytest.fixture
def connect(era: str) -> Callable[[], Any]:
    """Connect an in-memory client to a new server over the test's store; each connection is a process's worth of state."""

    @asynccontextmanager
    async def connection() -> AsyncIterator[Client]:
        pools = Pools()
        async with Client(build_server(pools, caps=("core", "browser")), mode=era) as client:
            yield client

    return connection


@pytest.fixture
async def client(connect: Callable[[], Any]) -> AsyncIterator[Client]:
    """A client of a new server in each era, with the session `trip` open."""
    async with connect() as connected:
        await call(connected, "open_session")
        yield connected


class Host:
    """A host at its barest: a server process and JSON-RPC lines over its pipes, in the handshake era."""

    def __init__(self, program: str = SERVE, **options: Any) -> None:
        environment = {name: os.environ[name] for name in ("HOME", "PATH", "CTXFOLD_HOME") if name in os.environ} | {
            "PYTHONPATH": str(ROOT)
        }
        command = [sys.executable, "-c", program, *options.pop("arguments", ())]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd="/", env=options.pop("env", environment), **(pipes | options))
        self._id = 0

    def send(self, method: str, **params: Any) -> int:
        """Send one request without waiting; its id."""
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def ask(self, method: str, **params: Any) -> Any:
        """One request's result. Anything on stdout that isn't its answer fails the test."""
        number = self.send(method, **params)
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == number
        return answer["result"]

    def begin(self) -> Any:
        """The handshake."""
        hello = self.ask(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"}
        )
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return hello

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of one tool's result, which must be no error."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text = "\n".join(block["text"] for block in result["content"])
        assert not result.get("isError"), text
        return text

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


@pytest.fixture
def host() -> Iterator[Callable[..., Host]]:
    """Start server processes; whatever is left of them at the end of the test is killed."""
    hosts: list[Host] = []

    def start(program: str = SERVE, **options: Any) -> Host:
        hosts.append(Host(program, **options))
        return hosts[-1]

    yield start
    for one in hosts:
        one.process.kill()
        one.process.wait(10)
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            if pipe is not None:
                pipe.close()
