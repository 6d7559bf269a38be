"""A long run over stdio and HTTP, timed: how far apart the signs of life are, when the call comes back, how soon a cancelled run is over.

`python -m tests.benchmarks.runs` takes about two minutes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from tests.browser_agent.agent.scripts import decide, script
from tests.mcp_server.conftest import ROOT, said
from tests.mcp_server.transport.test_http import Served
from tests.sites.server import Site

GAP, BACK, OVER = 5.0, 50.0, 1.0
"""Bars, in seconds: between two signs of life, until a call comes back, until a cancelled run is over."""

PAGE = "<title>Harbour</title><h1>Harbour</h1><p>Ships and tides.</p>"


@dataclass(slots=True)
class Heard:
    """When signs of life came."""

    times: list[float] = field(default_factory=lambda: [time.monotonic()])

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.times.append(time.monotonic())

    @property
    def gap(self) -> float:
        return max(after - before for before, after in zip(self.times, self.times[1:], strict=False))


@asynccontextmanager
async def connected(transport: str, model: str) -> AsyncIterator[Client]:
    """A client of a server process whose runs this model decides."""
    if transport == "stdio":
        command = ["-m", "ctxfold", "serve", "--model", model]
        environment = {name: os.environ[name] for name in ("HOME", "PATH", "CTXFOLD_HOME")} | {"PYTHONPATH": str(ROOT)}
        server = StdioServerParameters(command=sys.executable, args=command, env=environment)
        async with Client(server) as client:
            yield client
        return
    served = await anyio.to_thread.run_sync(Served, "--model", model)
    try:
        async with Client(served.url) as client:
            yield client
    finally:
        served.end()


async def measured(transport: str, model: str, url: str) -> dict[str, tuple[float, float]]:
    """Figures by name, each with its bar."""
    asked: dict[str, Any] = {"session": "trip", "task": "How deep is it?", "start_url": url}
    async with connected(transport, model) as client:
        await client.call_tool("open_session", {"session": "trip"})
        heard, began = Heard(), time.monotonic()
        result = await client.call_tool("browse", asked, progress_callback=heard, read_timeout_seconds=BACK + 10)
        back, going = time.monotonic() - began, result.structured_content
        assert going is not None, said(result)
        assert going["status"] == "running", going
        began = time.monotonic()
        ended = await client.call_tool("browse_status", {"run": going["run"], "cancel": True})
        by_status = time.monotonic() - began
        assert ended.structured_content is not None
        assert ended.structured_content["status"] == "cancelled"
        by_protocol = await cancelled(client, asked)
    return {
        "longest gap between signs of life": (heard.gap, GAP),
        "the call came back after": (back, BACK),
        "ended by browse_status within": (by_status, OVER),
        "ended by the protocol within": (by_protocol, OVER),
    }


async def cancelled(client: Client, asked: dict[str, Any]) -> float:
    """Seconds from the protocol's cancellation until the session says that the run is over."""
    going = anyio.Event()

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        if message and "step 1" in message:
            going.set()

    async with anyio.create_task_group() as tasks:

        async def ask() -> None:
            await client.call_tool("browse", asked, progress_callback=heard)

        tasks.start_soon(ask)
        await going.wait()
        tasks.cancel_scope.cancel()
    began = time.monotonic()
    over = False
    while not over:
        over = "cancelled after" in said(await client.call_tool("recall", {"session": "trip", "ref": "s2"}))
    return time.monotonic() - began


def main() -> int:
    """Print the figures; 0 when all are within their bars."""
    over = 0
    with tempfile.TemporaryDirectory() as folder, Site(pages={"/": PAGE}) as site:
        os.environ["CTXFOLD_HOME"] = str(Path(folder) / "ctxfold")
        wait = {"kind": "wait_for", "text": "never shown", "seconds": 30}
        model = script(Path(folder), *[decide("Wait.", wait) for _ in range(6)])
        for transport in ("stdio", "http"):
            os.environ["CTXFOLD_HOME"] = str(Path(folder) / transport)
            for name, (seconds, bar) in anyio.run(measured, transport, model, site.url).items():
                over += seconds > bar
                print(
                    f"{transport:5} {name:36} {seconds:6.2f} s  {'ok' if seconds <= bar else f'over {bar:g} s'}",
                    flush=True,
                )
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main())
