"""The tools `plan` and `extract` and the to-do resource, through a client in this process."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools

pytestmark = pytest.mark.anyio


def said(result: Any) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content)


async def test_the_host_writes_the_register_and_reads_it_as_a_resource() -> None:
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip"})
        await client.call_tool("record", {"session": "trip", "user": "Book a room in Porto, at most 90 EUR."})
        nothing = await client.call_tool("plan", {"session": "trip"})
        assert nothing.structured_content is not None
        assert (nothing.structured_content["open"], nothing.structured_content["constraints"]) == ([], [])
        assert "write todo, constraints or decisions" in nothing.structured_content["notes"][0]
        planned = await client.call_tool(
            "plan", {
                "session": "trip", "todo": [{"text": "Book a room in Porto"}], "constraints": ["at most 90 EUR"],
                "decisions": ["no flight"],
            },
        )  # fmt: skip
        assert planned.structured_content == {
            "open": ["t1 Book a room in Porto"], "done": [], "dropped": [], "constraints": ["c1 at most 90 EUR (s1.1)"],
            "decisions": ["d1 no flight (s1)"], "notes": [],
        }  # fmt: skip
        done = await client.call_tool(
            "plan", {
                "session": "trip", "todo": [{"text": "Pack"}, {"id": "t1", "state": "done", "evidence": "s1.1"}],
                "constraints": ["c1=at most 95 EUR"], "decisions": ["d1="],
            },
        )  # fmt: skip
        assert done.structured_content is not None
        assert (done.structured_content["open"], done.structured_content["done"]) == (["t2 Pack"], ["t1"])
        assert (done.structured_content["constraints"], done.structured_content["decisions"]) == (
            ["c2 at most 95 EUR (s1)"],
            [],
        )
        read = await client.read_resource("ctxfold://sessions/trip/todo")
        assert "t1 · done · Book a room in Porto · s1.1" in str(read.contents[0])
        assert "c2 · at most 95 EUR · s1" in str(read.contents[0])
        shown = said(await client.call_tool("context", {"session": "trip"}))
        assert "c2 at most 95 EUR (s1; was 90, s1.1)" in shown
        unknown = await client.call_tool("plan", {"session": "trip", "todo": [{"id": "t9", "state": "done"}]})
        assert unknown.is_error


async def test_lines_are_extracted_by_need_and_by_ref() -> None:
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip"})
        text = '{"rooms": [{"id": "R1", "price": 80}, {"id": "R2", "price": 95}]}'
        step = {"calls": [{"name": "search", "args": {}}], "results": [{"text": text}]}
        await client.call_tool("record", {"session": "trip", "step": step})
        by_ref = await client.call_tool("extract", {"session": "trip", "lines": [{"ref": "s1:4-5"}, {"ref": "s9:1"}]})
        assert 's1.2:4-5\n   "id": "R1",\n   "price": 80' in said(by_ref)
        assert "1 refused" in said(by_ref)
        assert '"id": "R1"' in said(await client.call_tool("context", {"session": "trip"}))
        by_need = await client.call_tool("extract", {"session": "trip", "need": "price of R2"})
        assert '"id": "R2"' in said(by_need)
        nothing = await client.call_tool("extract", {"session": "trip", "need": "zebra"})
        assert "nothing found" in said(nothing)
        assert (await client.call_tool("extract", {"session": "trip", "lines": [{"ref": "s9:1"}]})).is_error


async def test_a_host_tells_its_tools_and_ends_the_view_with_a_hint() -> None:
    pools = Pools()
    async with Client(build_server(pools)) as client:
        await client.call_tool("open_session", {"session": "trip", "tools": "search(q): finds rooms\nbook(room)\n"})
        await client.call_tool("record", {"session": "trip", "user": "A room below 90 EUR."})
        lines = [{"ref": "s1.1", "constraints": "at most 89 EUR"}]
        await client.call_tool("extract", {"session": "trip", "lines": lines, "hint": "Call search."})
        shown = said(await client.call_tool("context", {"session": "trip"}))
        assert "at most 89 [not in the log] EUR" in shown
        assert "next: Call search." in shown.splitlines()[-2]
        known = await pools.get(None).use("trip", lambda opened: opened.known_tools)
        assert known == ("search(q): finds rooms", "book(room)")
