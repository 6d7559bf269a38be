"""The tool `switch_branch`, through a client in this process."""

from __future__ import annotations

import pytest
from mcp import Client

from tests.mcp_server.conftest import call, told

pytestmark = pytest.mark.anyio


async def test_a_message_is_compared_and_the_host_moves_by_name(client: Client) -> None:
    await call(client, "record", user="Six days in Kyoto for 4200 euros, please.")
    await call(client, "record", reply="Noted.")
    moved = await told(client, "switch_branch", action="new_topic", to="leak")
    assert (moved["action"], moved["branches"]) == ("new_topic", ["main", "leak"])
    await call(client, "record", user="Our Node service leaks heap memory.")
    await call(client, "record", reply="Noted.")
    stayed = await told(client, "switch_branch", query="Back to Kyoto: which district?")
    assert (stayed["action"], stayed["branch"], stayed["tip"]) == ("continue", "leak", "s2")
    assert stayed["branches"][0].startswith("main 0.")
    assert "Six days in Kyoto" in stayed["branches"][0]
    assert (await told(client, "switch_branch", action="switch", to="main"))["branch"] == "main"
    assert (await told(client, "switch_branch", action="create", to="cheap", step="s1"))["branch"] == "cheap"
    renamed = await told(client, "switch_branch", action="rename", to="cheaper")
    assert renamed["branches"][1] == "cheaper (of topic main)"
    assert "leaks heap memory" in await call(client, "context")
