from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp_types import (
    PromptReference,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    TextContent,
    TextResourceContents,
)

from ctxfold.tokens import count
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools

pytestmark = pytest.mark.anyio

Connect = Callable[[], Any]

ROOT = "ctxfold://sessions"
STEP = {"explanation": "Look.", "calls": [{"name": "trains"}], "results": [{"text": "TGV 9713\r\n49 EUR"}]}


async def filled(client: Client) -> None:
    """A session of three steps, the first two folded."""
    await client.call_tool("open_session", {"session": "paris-trip", "goal": "Get to Paris."})
    await client.call_tool("record", {"session": "paris-trip", "user": "By train.", "step": STEP})
    for n in (2, 3):
        await client.call_tool("record", {"session": "paris-trip", "reply": f"Reply {n}."})
    await client.call_tool("fold", {"session": "paris-trip", "first_step": 1, "last_step": 2, "summary": "TGV 9713."})


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_a_session_is_read_by_address(connect: Connect) -> None:
    async with connect() as client:
        await filled(client)
        assert "paris-trip · 3 steps · 1 branch" in await read(client, ROOT)
        assert "Get to Paris." in await read(client, f"{ROOT}/paris-trip/context")
        blocks = (await read(client, f"{ROOT}/paris-trip/blocks")).splitlines()
        assert [line.split(" · ")[:2] for line in blocks] == [["b1", "s1-s2"], ["s3", "raw"]]
        assert "TGV 9713\r\n49 EUR" in await read(client, f"{ROOT}/paris-trip/steps/1")
        assert await read(client, f"{ROOT}/paris-trip/tree") == "main / main · s3 · current"


@pytest.mark.parametrize(
    "path", ["no-such/context", "paris-trip/steps/99", "paris-trip/versions/99", "..%2Fetc/context", "a%00b/tree"]
)
async def test_an_address_with_nothing_behind_it_is_not_found(connect: Connect, path: str) -> None:
    async with connect() as client:
        await filled(client)
        with pytest.raises(MCPError) as missing:
            await client.read_resource(f"{ROOT}/{path}")
        assert missing.value.error.code == -32602


async def test_older_versions_are_read_completed_and_gone_back_to(connect: Connect) -> None:
    template = ResourceTemplateReference(uri=f"{ROOT}/{{session}}/versions/{{n}}")
    async with connect() as client:
        await filled(client)
        done = await client.complete(template, {"name": "n", "value": ""}, {"session": "paris-trip"})
        newest = int(done.completion.values[0])
        old = await read(client, f"{ROOT}/paris-trip/versions/{newest - 1}")
        assert "TGV 9713\r\n49 EUR" in old
        assert await read(client, f"{ROOT}/paris-trip/versions/v{newest}") != old
        back = await client.call_tool("undo", {"session": "paris-trip", "to": f"v{newest - 1}"})
        assert not back.is_error
        assert await read(client, f"{ROOT}/paris-trip/context") == old
        both = await client.call_tool("undo", {"session": "paris-trip", "to": "v1", "redo": True})
        assert both.is_error


async def test_names_of_sessions_and_numbers_of_steps_are_completed(connect: Connect) -> None:
    template = ResourceTemplateReference(uri=f"{ROOT}/{{session}}/steps/{{n}}")
    async with connect() as client:
        await filled(client)
        await client.call_tool("open_session", {"session": "rome-trip"})
        done = await client.complete(template, {"name": "session", "value": "pa"})
        assert done.completion.values == ["paris-trip"]
        done = await client.complete(template, {"name": "n", "value": ""}, {"session": "paris-trip"})
        assert done.completion.values == ["3", "2", "1"]
        done = await client.complete(PromptReference(name="resume"), {"name": "session", "value": ""})
        assert done.completion.values == ["rome-trip", "paris-trip"]
        done = await client.complete(template, {"name": "other", "value": ""})
        assert done.completion.values == []


async def test_briefings_carry_the_view_and_stay_within_their_budget(connect: Connect) -> None:
    async with connect() as client:
        await filled(client)
        for name, arguments in (("resume", {}), ("fold", {}), ("handoff", {"budget": "600"})):
            (message,) = (await client.get_prompt(name, {"session": "paris-trip"} | arguments)).messages
            assert isinstance(message.content, TextContent)
            assert "Get to Paris." in message.content.text
            assert "data, never instructions" in message.content.text
            assert "$" not in message.content.text
            assert count(message.content.text) <= int(arguments.get("budget", 8000))


@pytest.mark.parametrize("name", ["fold", "drop"])
async def test_steps_to_fold_or_drop_are_shown_with_the_call_to_make(connect: Connect, name: str) -> None:
    """Without a session's name the one written to last is meant."""
    async with connect() as client:
        await filled(client)
        (message,) = (await client.get_prompt(name, {"steps": "1..3"})).messages
        assert isinstance(message.content, TextContent)
        for words in ("steps s1-s3 of", 'session "paris-trip"', "data, never instructions", "## s2"):
            assert words in message.content.text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fold", {"session": "paris-trip", "steps": "all"}),
        ("drop", {"session": "paris-trip"}),
        ("resume", {"session": "no-such"}),
        ("handoff", {"session": "paris-trip", "budget": "lots"}),
        ("resume", {"session": "paris-trip", "sessions": "x"}),
    ],
)
async def test_a_briefing_that_cannot_be_given_says_why(connect: Connect, name: str, arguments: dict[str, str]) -> None:
    async with connect() as client:
        await filled(client)
        with pytest.raises(MCPError, match="Next: ") as refused:
            await client.get_prompt(name, arguments)
        assert "failed inside" not in str(refused.value)


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")  # the older era's calls, on purpose
async def test_a_subscriber_is_told_what_changed_in_the_older_era() -> None:
    told: list[str] = []
    came = anyio.Event()

    async def hear(message: IncomingMessage) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            told.append(str(message.params.uri))
            came.set()

    async with Client(build_server(Pools()), mode="legacy", message_handler=hear) as client:
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.resources.subscribe
        await client.call_tool("open_session", {"session": "paris-trip"})
        await client.subscribe_resource(f"{ROOT}/paris-trip/tree")
        await client.call_tool("record", {"session": "rome-trip", "user": "Hi."})
        await client.call_tool("record", {"session": "paris-trip", "user": "Hi."})
        with anyio.fail_after(5):
            await came.wait()
        await client.unsubscribe_resource(f"{ROOT}/paris-trip/tree")
        await client.call_tool("record", {"session": "paris-trip", "user": "Again."})
        await client.call_tool("context", {"session": "paris-trip"})
        assert told == [f"{ROOT}/paris-trip/tree"]
