"""The row of the browser's steps: each face decides one on a page of its own, and the session it was recorded in tells who did."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import Keeping
from ctxfold import Session
from ctxfold.models import ScriptedModel
from mcp_server.server import build_server
from mcp_server.sessions.browsing import BrowsingSettings
from mcp_server.sessions.pool import Pools
from tests.sites.server import Site

__all__ = ["browse_steps"]

WHY = "Look where the hour stands."
ASKED = "When does gate 7 open?"
PAGE = "<title>Gate</title><main><h1>Gate</h1><p>Gate 7 opens at 4:37.</p></main>"
PLAN: list[dict[str, Any]] = [
    {"thought": WHY, "actions": [{"kind": "find", "query": "opens"}]},
    {"thought": "There.", "actions": [{"kind": "answer", "text": "4:37", "quote": "Gate 7 opens at 4:37"}]},
]


async def browse_steps(columns: tuple[str, ...]) -> dict[str, str]:
    """The cells of the row, by column."""
    ways = (over_mcp, in_library, at_the_shell, left_to_the_server, streamed, embedded)
    with Site(pages={"/": PAGE}) as site:
        return {column: await way(f"{site.url}/") for column, way in zip(columns, ways, strict=True)}


def recorded(name: str) -> str:
    """Whether a session holds the step that was decided, with its reason."""
    with Session.open(name, create=False) as session:
        log = session.recall(f"s1-s{session.tip}").text
    return "ok" if WHY in log and '"find"' in log else f"the session {name} holds no such step"


def scripted(folder: str) -> str:
    """A model's name, whose replies are the plan."""
    script = Path(folder, "script.json")
    script.write_text(json.dumps(PLAN), encoding="utf-8")
    return f"script:{script}"


async def over_mcp(url: str) -> str:
    """A host's model drives a page of its own."""
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "step-host"})
        acts = {"actions": [{"kind": "find", "query": "opens"}], "why": WHY}
        for tool, given in (("page_open", {"url": url}), ("page_act", acts)):
            done = await client.call_tool(tool, {"session": "step-host", **given})
            if done.is_error:
                return str(done.content[0])
    return recorded("step-host")


async def in_library(url: str) -> str:
    """A model decides in a program."""
    async with BrowserAgent(ScriptedModel(*PLAN, name="weak"), keeping=Keeping("step-library")) as agent:
        result = await agent.run(ASKED, url)
    by = dict(result.usage.decided)
    return recorded("step-library") if by == {"weak": 2} else f"decided by {by}"


async def at_the_shell(url: str) -> str:
    """A model decides for the command, in a process of its own."""
    with TemporaryDirectory() as folder:
        said = ("browse", ASKED, "--start-url", url, "--model", scripted(folder), "--session", "step-shell")
        done = await anyio.run_process([sys.executable, "-m", "ctxfold", *said], check=False)
    return recorded("step-shell") if done.returncode == 0 else done.stderr.decode()


async def left_to_the_server(url: str) -> str:
    """A host leaves the task to the server's model."""
    with TemporaryDirectory() as folder:
        settings = BrowsingSettings(model=scripted(folder))
        async with Client(build_server(Pools(browsing=settings))) as client:
            await client.call_tool("open_session", {"session": "step-server"})
            done = await client.call_tool("browse", {"session": "step-server", "task": ASKED, "start_url": url})
        found = done.structured_content
    return recorded(found["run"]) if found is not None else str(done.content[0])


async def streamed(url: str) -> str:
    """A run tells of each step who decided it."""
    async with BrowserAgent(ScriptedModel(*PLAN, name="weak"), keeping=Keeping("step-run")) as agent:
        told = [step async for step in agent.stream(ASKED, url)]
    by = [getattr(step, "decider", "") for step in told]
    return "ok" if by[1:3] == ["weak", "weak"] else f"decided by {by}"


async def embedded(url: str) -> str:
    """Nobody is asked: the explorer decides."""
    async with BrowserAgent(keeping=Keeping("step-explorer")) as agent:
        result = await agent.run(ASKED, url)
    by = dict(result.usage.decided)
    return "ok" if set(by) == {"explorer"} and "4:37" in (result.answer or "") else f"decided by {by}: {result.reason}"
