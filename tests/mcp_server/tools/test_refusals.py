import json
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import TypeAdapter

from browser_agent.actions import Action
from mcp_server.errors import write_example
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from mcp_server.tools import make_tools
from tests.mcp_server.conftest import call, said, told

pytestmark = pytest.mark.anyio

WRONG: dict[str, Any] = {"string": ["x"], "integer": "many", "boolean": "perhaps", "array": {"a": 1}, "object": "x"}
"""For each type a value that is none."""


async def refused(client: Any, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """What is wrong with a call, and the arguments of the call that is named instead."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, said(result)
    wrong, _, example = said(result).partition(f" Next: the same call, corrected, such as: {tool} ")
    assert example, said(result)
    return wrong, json.loads(example)


async def test_each_wrong_argument_of_each_tool_is_named_with_what_it_should_be_and_a_call_that_passes() -> None:
    server = build_server(Pools(), caps=("core", "browser"))
    for tool in make_tools():
        for name, schema in tool.parameters["properties"].items():
            kind = schema.get("type", "string")
            right = json.loads(write_example(tool.name, tool.parameters).partition(" ")[2])
            with pytest.raises(ToolError, match=rf"{tool.name}: {name} should be") as told:
                await server.call_tool(tool.name, right | {name: WRONG[kind]})
            text = str(told.value)
            assert "Input should" not in text
            example = json.loads(text.partition(f"such as: {tool.name} ")[2])
            assert name in example
            tool.fn_metadata.arg_model.model_validate(example)


async def test_a_malformed_action_of_each_kind_is_answered_with_one_of_that_kind_that_passes(client: Client) -> None:
    kinds = TypeAdapter(Action).json_schema()["discriminator"]["mapping"]
    for kind in kinds:
        if kind in ("answer", "give_up"):
            continue
        wrong, example = await refused(client, "page_act", session="t", actions=[{"kind": kind, "bogus": 1}])
        assert wrong.startswith("page_act: actions[0]."), wrong
        assert [each["kind"] for each in example["actions"]] == [kind]
        assert not isinstance(TypeAdapter(Action).validate_python(example["actions"][0]), str)


async def test_what_a_tool_itself_refuses_is_answered_with_a_call_that_it_takes(client: Client) -> None:
    await call(client, "open_session", session="paris-trip")
    for arguments in ({"session": "paris-trip"}, {"text": "hello"}):
        _, example = await refused(client, "record", **arguments)
        await call(client, "record", **example)


async def test_an_entry_that_is_given_as_its_text_is_taken(client: Client) -> None:
    await call(client, "record", user="Book a hotel.")
    planned = await told(client, "plan", todo=["book the hotel", {"text": "pay"}])
    assert planned["open"] == ["t1 book the hotel", "t2 pay"]
    assert "Book a hotel." in await call(client, "extract", lines=["s1.1"])
