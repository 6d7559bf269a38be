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


async def test_a_message_turns_elsewhere_and_back_and_by_hand() -> None:
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip"})
        moved: dict[str, Any] = {}
        for words in ("Six days in Kyoto for 4200 euros, please.", "By the way, our Node service leaks heap memory."):
            moved = await told(client, query=words)
            await client.call_tool("record", {"session": "trip", "user": words})
            await client.call_tool("record", {"session": "trip", "reply": "Noted."})
        assert moved["action"] == "new_topic"
        assert len(moved["branches"]) == 2
        back = await told(client, query="Back to Kyoto: which district?")
        assert (back["action"], back["branch"], back["tip"]) == ("switch", "main", "s1")
        assert 0.5 <= back["confidence"] <= 1
        assert (await told(client, action="create", to="cheap", step="s1"))["branch"] == "cheap"
        assert (await told(client, action="rename", to="cheaper"))["branches"][1] == "main: cheaper"
        shown = await client.call_tool("context", {"session": "trip"})
        assert "leaks heap memory" in str(shown.content)


async def test_a_branch_that_is_not_there_is_refused_and_those_there_are_named() -> None:
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip"})
        result = await client.call_tool("switch_branch", {"session": "trip", "action": "switch", "to": "nowhere"})
        assert result.is_error
        assert "main" in str(result.content)
