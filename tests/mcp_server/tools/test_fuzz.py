import random
from typing import Any

import pytest
from mcp import Client

from mcp_server.tools import TOOLS
from mcp_server.tools.results import LIMIT
from tests.mcp_server.conftest import call, said

pytestmark = pytest.mark.anyio

CALLS = 600

NAMES = ("session", "user", "step", "file", "reply", "note", "goal", "budget", "summary", "first_step", "last_step",
         "offset", "ref", "query", "limit", "redo", "url", "actions", "find", "page", "need", "why", "lines", "todo", "nonsense", "")  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2**63, -(2**70), 1e308, 0.5, "", " ", "a", "trip", "../x", "a\0b", "s1", "s1.1", "s0", "s1:0-0", "s1-s9", "b1",
    "s99999999999999999999", "<|endoftext|>", "日本語" * 50, "x" * 20_000, "\ud800", "\r\n\u2028\u0085", "1" * 400, "{}", "[]", "[[[[", '{"a": 1}',
    "/etc", "/dev/zero", "/proc/self/mem", "AND OR NOT (", '"', "*", "NEAR/", [], {}, [1], ["a"], {"a": {"b": []}}, [None],
    {"explanation": "e", "calls": [{"name": "n", "args": {"deep": [[[[1]]]]}}], "results": [{"text": "t"}]},
    {"results": [{"text": "t", "id": "nobody"}]}, {"late_for": 1, "results": [{"text": "t"}]}, {"late_for": -5}, {"calls": [{"name": ""}] * 50},
    {"calls": [{"name": "n", "id": "i"}] * 2, "results": [{"text": "t", "id": "i"}] * 3}, {"late_for": 10**30}, {"calls": "n"}, {"results": [5]},
)  # fmt: skip


async def call_wrongly(client: Any, chance: random.Random, calls: int) -> None:
    """Seeded junk for every tool: each answer is a result within the limit, or an error that names the next call."""
    for _ in range(calls):
        tool = chance.choice(TOOLS).name
        arguments = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(4))}
        if chance.random() < 0.8:
            arguments["session"] = "trip"
        result = await client.call_tool(tool, arguments)
        text = said(result)
        about = f"{tool} {arguments!r:.300} -> {text:.300}"
        assert "Error executing tool" not in text, about
        assert "failed inside" not in text, about
        assert not result.is_error or "Next: " in text, about
        assert len(text) <= LIMIT, about


async def test_no_call_however_wrong_gets_a_bare_error(client: Client) -> None:
    await call_wrongly(client, random.Random(20261120), CALLS)
    await call(client, "context")
