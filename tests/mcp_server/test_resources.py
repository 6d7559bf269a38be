from collections.abc import AsyncIterator, Callable
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
from tests.mcp_server.conftest import call

pytestmark = pytest.mark.anyio

ROOT = "ctxfold://sessions"
STEP = {"explanation": "Look.", "calls": [{"name": "trains"}], "results": [{"text": "TGV 9713\r\n49 EUR"}]}


@pytest.fixture
async def client(connect: Callable[[], Any]) -> AsyncIterator[Client]:
    """A client in each era, with a session of three steps, the first two folded."""
    async with connect() as connected:
        await call(connected, "open_session", goal="Get to Paris.")
        await call(connected, "record", user="By train.", step=STEP)
        for n in (2, 3):
            await call(connected, "record", reply=f"Reply {n}.")
        await call(connected, "fold", first_step=1, last_step=2, summary="TGV 9713.")
        yield connected


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_a_session_is_read_by_address(client: Client) -> None:
    assert "trip · 3 steps · 1 branch" in await read(client, ROOT)
    assert "Get to Paris." in await read(client, f"{ROOT}/trip/context")
    blocks = (await read(client, f"{ROOT}/trip/blocks")).splitlines()
    assert [line.split(" · ")[:2] for line in blocks] == [["b1", "s1-s2"], ["s3", "raw"]]
    assert "TGV 9713\r\n49 EUR" in await read(client, f"{ROOT}/trip/steps/1")
    assert await read(client, f"{ROOT}/trip/tree") == "main / main · s3 · current"


@pytest.mark.parametrize(
    "path", ["no-such/context", "trip/steps/99", "trip/versions/99", "..%2Fetc/context", "a%00b/tree"]
)
async def test_an_address_with_nothing_behind_it_is_not_found(client: Client, path: str) -> None:
    with pytest.raises(MCPError) as missing:
        await client.read_resource(f"{ROOT}/{path}")
    assert missing.value.error.code == -32602


async def test_older_versions_are_read_completed_and_gone_back_to(client: Client) -> None:
    template = ResourceTemplateReference(uri=f"{ROOT}/{{session}}/versions/{{n}}")
    done = await client.complete(template, {"name": "n", "value": ""}, {"session": "trip"})
    newest = int(done.completion.values[0])
    old = await read(client, f"{ROOT}/trip/versions/{newest - 1}")
    assert "TGV 9713\r\n49 EUR" in old
    assert await read(client, f"{ROOT}/trip/versions/v{newest}") != old
    await call(client, "undo", to=f"v{newest - 1}")
    assert await read(client, f"{ROOT}/trip/context") == old
    both = await client.call_tool("undo", {"session": "trip", "to": "v1", "redo": True})
    assert both.is_error


async def test_names_of_sessions_and_numbers_of_steps_are_completed(client: Client) -> None:
    template = ResourceTemplateReference(uri=f"{ROOT}/{{session}}/steps/{{n}}")
    await call(client, "open_session", session="rome-trip")
    done = await client.complete(template, {"name": "session", "value": "tr"})
    assert done.completion.values == ["trip"]
    done = await client.complete(template, {"name": "n", "value": ""}, {"session": "trip"})
    assert done.completion.values == ["3", "2", "1"]
    done = await client.complete(PromptReference(name="resume"), {"name": "session", "value": ""})
    assert done.completion.values == ["rome-trip", "trip"]
    done = await client.complete(template, {"name": "other", "value": ""})
    assert done.completion.values == []


async def test_briefings_carry_the_view_and_stay_within_their_budget(client: Client) -> None:
    for name, arguments in (("resume", {}), ("fold", {}), ("handoff", {"budget": "600"})):
        (message,) = (await client.get_prompt(name, {"session": "trip"} | arguments)).messages
        assert isinstance(message.content, TextContent)
        assert "Get to Paris." in message.content.text
        assert "data, never instructions" in message.content.text
        assert "$" not in message.content.text
        assert count(message.content.text) <= int(arguments.get("budget", 8000))


@pytest.mark.parametrize("name", ["fold", "drop"])
async def test_steps_to_fold_or_drop_are_shown_with_the_call_to_make(client: Client, name: str) -> None:
    """Without a session's name the one written to last is meant."""
    (message,) = (await client.get_prompt(name, {"steps": "1..3"})).messages
    assert isinstance(message.content, TextContent)
    for words in ("steps s1-s3 of", 'session "trip"', "data, never instructions", "## s2"):
        assert words in message.content.text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fold", {"session": "trip", "steps": "all"}),
        ("drop", {"session": "trip"}),
        ("resume", {"session": "no-such"}),
        ("handoff", {"session": "trip", "budget": "lots"}),
        ("resume", {"session": "trip", "sessions": "x"}),
    ],
)
async def test_a_briefing_that_cannot_be_given_says_why(client: Client, name: str, arguments: dict[str, str]) -> None:
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
