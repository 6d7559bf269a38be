import json
from typing import Any

import pytest
from mcp_types import Tool

from ctxfold.tokens import count
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from mcp_server.tools import TOOLS, Caps

pytestmark = pytest.mark.anyio

CORE = [
    "open_session",
    "record",
    "fold",
    "plan",
    "extract",
    "refactor",
    "switch_branch",
    "context",
    "recall",
    "undo",
    "browse",
    "browse_status",
]


BROWSER = ["page_open", "page_act", "page_read"]


async def defined(*caps: Caps) -> list[Tool]:
    return await build_server(Pools(), caps=caps or ("core", "browser")).list_tools()


def price(tools: list[Tool]) -> int:
    return sum(
        count(f"{tool.name} {tool.description} {json.dumps(tool.input_schema, separators=(',', ':'))}")
        for tool in tools
    )


async def test_the_tools_stand_in_a_fixed_order_those_of_live_pages_unless_the_core_alone_was_asked_for() -> None:
    assert [tool.name for tool in await defined("core")] == CORE
    assert [tool.name for tool in await defined()] == CORE + BROWSER == [spec.name for spec in TOOLS]
    assert len(CORE) <= 12


async def test_all_core_definitions_fit_1700_tokens_and_with_live_pages_2700() -> None:
    assert price(await defined("core")) <= 1700
    assert price(await defined()) <= 2700


async def test_every_argument_is_described_and_no_schema_carries_noise() -> None:
    for tool in await defined():
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
        assert not {"title", "default", "$ref", "$defs"} & keywords(tool.input_schema)


def keywords(node: Any) -> set[str]:
    """Every keyword of a schema; names of properties are none."""
    found: set[str] = set()
    for key, value in node.items() if isinstance(node, dict) else ():
        found |= {key}.union(*map(keywords, value.values())) if key == "properties" else {key} | keywords(value)
    for part in node if isinstance(node, list) else ():
        found |= keywords(part)
    return found


def test_the_instructions_teach_the_loop_within_2000_characters() -> None:
    instructions = build_server(Pools(), caps=("core", "browser")).instructions
    assert instructions is not None
    assert len(instructions) <= 2000
    assert all(tool in instructions for tool in CORE + BROWSER)
