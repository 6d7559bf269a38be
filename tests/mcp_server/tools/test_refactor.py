"""The tool `refactor`, through a client in this process."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools

pytestmark = pytest.mark.anyio

STEP = {
    "explanation": "Trying the refund of W-2003 to the card it was paid with once more.",
    "calls": [{"name": "refund", "args": {"order": "W-2003"}}],
    "results": [{"text": "Error: the card ending 4471 was refused"}],
}


async def told(client: Client, **arguments: Any) -> dict[str, Any]:
    """What the tool answered, as data."""
    result = await client.call_tool("refactor", {"session": "trip", **arguments})
    assert not result.is_error
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def test_a_loop_is_pruned_a_clean_history_left_alone_and_an_invention_marked() -> None:
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip", "goal": "Refund W-2003"})
        await client.call_tool("record", {"session": "trip", "user": "Refund W-2003."})
        assert (await told(client))["operator"] == "none"
        for _ in range(4):
            await client.call_tool("record", {"session": "trip", "step": STEP})
        mended = await told(client)
        assert (mended["operator"], mended["applied"], mended["steps"]) == ("path_prune", True, "s1-s3")
        assert mended["tokens"] < mended["was_tokens"]
        marked = await told(client, operator="cognitive_boosting", text="Ask about W-9999.")
        assert marked["applied"]
        assert marked["reason"].endswith("not in the log, and marked so: 'W-9999'")
        assert (await told(client, operator="cognitive_boosting", text="Use another card."))["applied"]
        undone = await client.call_tool("undo", {"session": "trip"})
        assert undone.structured_content is not None
        assert undone.structured_content["undone"].startswith("the refactoring cognitive_boosting")
