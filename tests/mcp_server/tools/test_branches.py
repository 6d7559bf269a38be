"""The tool `switch_branch`, through a client in this process."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools

pytestmark = pytest.mark.anyio


async def told(client: Client, **arguments: Any) -> dict[str, Any]:
    """What the tool answered, as data."""
    result = await client.call_tool("switch_branch", {"session": "trip", **arguments})
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def test_a_message_is_compared_and_the_host_moves_by_name() -> None:
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip"})
        for words, topic in (
            ("Six days in Kyoto for 4200 euros, please.", ""),
            ("Our Node service leaks heap memory.", "leak"),
        ):
            if topic:
                moved = await told(client, action="new_topic", to=topic)
                assert (moved["action"], moved["branches"]) == ("new_topic", ["main", "leak"])
            await client.call_tool("record", {"session": "trip", "user": words})
            await client.call_tool("record", {"session": "trip", "reply": "Noted."})
        stayed = await told(client, query="Back to Kyoto: which district?")
        assert (stayed["action"], stayed["branch"], stayed["tip"]) == ("continue", "leak", "s2")
        assert stayed["branches"][0].startswith("main 0.")
        assert "Six days in Kyoto" in stayed["branches"][0]
        assert (await told(client, action="switch", to="main"))["branch"] == "main"
        assert (await told(client, action="create", to="cheap", step="s1"))["branch"] == "cheap"
        assert (await told(client, action="rename", to="cheaper"))["branches"][1] == "cheaper (of topic main)"
        shown = await client.call_tool("context", {"session": "trip"})
        assert "leaks heap memory" in str(shown.content)
