"""Whole runs over MCP: an answer with its quotes, signs of life, a name to ask after, an end within a second."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from browser_agent.host import runs
from ctxfold import Session
from mcp_server.server import build_server
from mcp_server.sessions.browsing import BrowsingSettings
from mcp_server.sessions.pool import Pools
from tests.browser_agent.agent.scripts import decide, script
from tests.mcp_server.conftest import said
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

HOME = "<title>Harbour</title><main><h1>Harbour</h1><p>Ships and tides.</p><a href=/tides>Tides</a></main>"
TIDES = (
    "<title>Tides</title><main><h1>Tides</h1><h2 id=spring>Spring tides</h2>"
    "<p>A spring tide comes twice a month, at new moon and at full moon.</p></main>"
)
TASK = "At which moon does a spring tide come?"


@asynccontextmanager
async def serving(model: str | None = None, era: str = "auto") -> AsyncIterator[Client]:
    async with Client(build_server(Pools(browsing=BrowsingSettings(model=model))), mode=era) as client:
        await client.call_tool("open_session", {"session": "trip"})
        yield client


def waiting(folder: Path) -> str:
    """A model that waits for what never comes."""
    wait = {"kind": "wait_for", "text": "never shown", "seconds": 30}
    return script(folder, *[decide("Wait.", wait) for _ in range(3)])


async def test_a_run_of_the_explorer_brings_an_answer_that_both_sessions_hold() -> None:
    told: list[tuple[float, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    with Site(pages={"/": HOME, "/tides": TIDES}) as site:
        async with serving() as client:
            asked = {"session": "trip", "task": TASK, "start_url": site.url}
            result = await client.call_tool("browse", asked, progress_callback=heard)
            assert not result.is_error, said(result)
            found = result.structured_content
            assert found is not None
            assert found["status"] == "answered"
            assert "twice a month" in found["answer"]
            assert "twice a month" in said(result)
            assert f"{site.url}/tides#spring" in found["quotes"][0]
            assert [number for number, _ in told] == sorted({number for number, _ in told})
            assert any(message and "open tides" in message for _, message in told)
            again = await client.call_tool("browse_status", {"run": found["run"]})
            assert again.structured_content == found
    with Session.open("trip", create=False) as session, Session.open(found["run"], create=False) as run:
        assert "twice a month" in session.recall(f"s{session.tip}").text
        assert TASK in run.recall("s1").text
        assert session.recall(query="spring tide")


async def test_a_long_run_comes_back_with_its_name_and_is_ended_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PATIENCE", 2.5)
    monkeypatch.setattr(runs, "BEAT", 0.2)
    with Site(pages={"/": HOME}) as site:
        async with serving(waiting(tmp_path)) as client:
            asked = {"session": "trip", "task": TASK, "start_url": site.url}
            result = await client.call_tool("browse", asked)
            assert not result.is_error, said(result)
            going = result.structured_content
            assert going is not None
            assert going["status"] == "running"
            with anyio.fail_after(20):  # the run itself waits 30
                ended = await client.call_tool("browse_status", {"run": going["run"], "cancel": True})
            assert ended.structured_content is not None
            assert ended.structured_content["status"] == "cancelled"
            last = await client.call_tool("browse_status", {"run": going["run"]})
            assert last.structured_content == ended.structured_content
    with Session.open("trip", create=False) as session:
        assert "cancelled after" in session.recall(f"s{session.tip}").text


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_protocols_own_cancellation_ends_the_run(tmp_path: Path, era: str) -> None:
    pools = Pools(browsing=BrowsingSettings(model=waiting(tmp_path)))
    going = anyio.Event()

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        if message and "step 1" in message:
            going.set()

    with Site(pages={"/": HOME}) as site:
        async with Client(build_server(pools), mode=era) as client:
            await client.call_tool("open_session", {"session": "trip"})
            asked: dict[str, Any] = {"session": "trip", "task": TASK, "start_url": site.url}
            async with anyio.create_task_group() as tasks:

                async def ask() -> None:
                    await client.call_tool("browse", asked, progress_callback=heard)

                tasks.start_soon(ask)
                with anyio.fail_after(30):
                    await going.wait()
                tasks.cancel_scope.cancel()
            (run,) = pools.get(None).browsing.runs._runs.values()
            with anyio.fail_after(30):
                await run.recorded
            assert run.status.status == "cancelled"


async def test_what_cannot_be_begun_or_is_not_known_is_an_error_that_names_the_next_call() -> None:
    async with serving("explorer") as client:
        for arguments, words in (
            ({"task": TASK}, "start_url"),
            ({"task": " ", "start_url": "http://127.0.0.1:1"}, "no task"),
            ({"task": TASK, "start_url": "http://169.254.169.254"}, "--allow"),
            ({"task": TASK, "start_url": "http://127.0.0.1:1", "session": "nobody"}, "no session"),
        ):
            result = await client.call_tool("browse", {"session": "trip"} | arguments)
            assert result.is_error
            assert words in said(result)
            assert "Next: " in said(result)
        unknown = await client.call_tool("browse_status", {"run": "trip-0123456789abcdef"})
        assert unknown.is_error
        assert "no run of that name" in said(unknown)
        assert "context" in said(unknown)
