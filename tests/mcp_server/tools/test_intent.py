"""The tools `plan` and `extract` and the to-do resource, through a client in this process."""

from __future__ import annotations

import pytest
from mcp import Client

from ctxfold import Session
from tests.mcp_server.conftest import call, told

pytestmark = pytest.mark.anyio


async def test_the_host_writes_the_register_and_reads_it_as_a_resource(client: Client) -> None:
    await call(client, "record", user="Book a room in Porto, at most 90 EUR.")
    nothing = await told(client, "plan")
    assert (nothing["open"], nothing["constraints"]) == ([], [])
    assert "write todo, constraints or decisions" in nothing["notes"][0]
    todo: list[object] = [{"text": "Book a room in Porto"}]
    planned = await told(client, "plan", todo=todo, constraints=["at most 90 EUR"], decisions=["no flight"])
    assert planned == {
        "open": ["t1 Book a room in Porto"], "done": [], "dropped": [], "constraints": ["c1 at most 90 EUR (s1.1)"],
        "decisions": ["d1 no flight (s1)"], "notes": [],
    }  # fmt: skip
    todo = [{"text": "Pack"}, {"id": "t1", "state": "done", "evidence": "s1.1"}]
    done = await told(client, "plan", todo=todo, constraints=["c1=at most 95 EUR"], decisions=["d1="])
    assert (done["open"], done["done"]) == (["t2 Pack"], ["t1"])
    assert (done["constraints"], done["decisions"]) == (["c2 at most 95 EUR (s1)"], [])
    read = await client.read_resource("ctxfold://sessions/trip/todo")
    assert "t1 · done · Book a room in Porto · s1.1" in str(read.contents[0])
    assert "c2 · at most 95 EUR · s1" in str(read.contents[0])
    assert "c2 at most 95 EUR (s1; was 90, s1.1)" in await call(client, "context")
    assert (await client.call_tool("plan", {"session": "trip", "todo": [{"id": "t9", "state": "done"}]})).is_error


async def test_lines_are_extracted_by_need_and_by_ref(client: Client) -> None:
    text = '{"rooms": [{"id": "R1", "price": 80}, {"id": "R2", "price": 95}]}'
    await call(client, "record", step={"calls": [{"name": "search", "args": {}}], "results": [{"text": text}]})
    by_ref = await call(client, "extract", lines=[{"ref": "s1:4-5"}, {"ref": "s9:1"}])
    assert 's1.2:4-5\n   "id": "R1",\n   "price": 80' in by_ref
    assert "1 refused" in by_ref
    assert '"id": "R1"' in await call(client, "context")
    assert '"id": "R2"' in await call(client, "extract", need="price of R2")
    assert "nothing found" in await call(client, "extract", need="zebra")
    assert (await client.call_tool("extract", {"session": "trip", "lines": [{"ref": "s9:1"}]})).is_error


async def test_a_host_tells_its_tools_and_ends_the_view_with_a_hint(client: Client) -> None:
    await call(client, "open_session", tools="search(q): finds rooms\nbook(room)\n")
    await call(client, "record", user="A room below 90 EUR.")
    await call(client, "extract", lines=[{"ref": "s1.1", "constraints": "at most 89 EUR"}], hint="Call search.")
    shown = await call(client, "context")
    assert "at most 89 [not in the log] EUR" in shown
    assert "next: Call search." in shown.splitlines()[-2]
    with Session.open("trip", create=False) as session:
        assert session.known_tools == ("search(q): finds rooms", "book(room)")
