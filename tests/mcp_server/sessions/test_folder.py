"""The folder's model behind the server: it folds, plans and extracts what a host leaves to ctxfold; where it fails, the embedded deciders do, and both answer and event say so."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from ctxfold import Session
from ctxfold.errors import ModelUnavailable
from ctxfold.models import Reply, Request
from ctxfold.models.named import ScriptedModel
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.mcp_server.conftest import ROOT, Host
from tests.support.sessions import events, prose

pytestmark = pytest.mark.anyio

PLAN = {"todo": [{"text": "Refund W-2003"}]}


def order(number: int) -> dict[str, Any]:
    """A step that looked an order up, in bulk."""
    text = json.dumps({"order": f"W-200{number}", "total": 100.5 + number, "note": prose(number, 96)})
    return {"calls": [{"name": "get_order", "args": {"order": f"W-200{number}"}}], "results": [{"text": text}]}


def deciders(name: str) -> dict[str, set[str]]:
    """Who made which kind of decision in a session."""
    with Session.open(name, create=False) as session:
        found: dict[str, set[str]] = {}
        for event in events(session):
            found.setdefault(event.kind, set()).add(event.decider)
    return found


async def orders(client: Client, name: str = "orders") -> CallToolResult:
    """A user's wish, and nine orders looked up; the last call's answer."""
    await client.call_tool("open_session", {"session": name, "budget": 1_000})
    done = await client.call_tool("record", {"session": name, "user": "Please refund order W-2003."})
    for number in range(1, 10):
        done = await client.call_tool("record", {"session": name, "step": order(number)})
    return done


async def test_a_folder_that_cannot_be_asked_is_named_in_the_answer_and_the_embedded_deciders_take_over() -> None:
    far = ScriptedModel(*(ModelUnavailable("overloaded") for _ in range(40)), name="far")
    async with Client(build_server(Pools(folder=far))) as client:
        await client.call_tool("open_session", {"session": "orders"})
        recorded = await client.call_tool("record", {"session": "orders", "user": "Please refund order W-2003."})
        planned = await client.call_tool("plan", {"session": "orders"})
        folded = await client.call_tool("fold", {"session": "orders"})
    for answer in (recorded, planned, folded):
        assert answer.structured_content is not None
        assert answer.structured_content["notes"] == ["far could not be asked: ModelUnavailable"]
    made = deciders("orders")
    assert made["folded"] == {"embedded"}
    assert "intent_set" not in made


async def test_a_host_that_says_it_itself_asks_no_folder() -> None:
    model = ScriptedModel(name="idle")
    async with Client(build_server(Pools(folder=model))) as client:
        await client.call_tool("open_session", {"session": "orders"})
        await client.call_tool("record", {"session": "orders", "step": order(1)})
        await client.call_tool("record", {"session": "orders", "step": order(2)})
        assert not (
            await client.call_tool("fold", {"session": "orders", "summary": "Looked up.", "first_step": 1})
        ).is_error
        assert not (await client.call_tool("plan", {"session": "orders", "todo": [{"text": "Refund"}]})).is_error
        assert not (await client.call_tool("extract", {"session": "orders", "lines": [{"ref": "s1.2:1-2"}]})).is_error
    assert model.requests == []


class Waiting(ScriptedModel):
    """A model that answers when it is let."""

    def __init__(self, *decisions: dict[str, Any]) -> None:
        super().__init__(*decisions, name="slow")
        self.asked, self.go_on = anyio.Event(), anyio.Event()

    async def decide(self, request: Request) -> Reply:
        """Say that it was asked, and wait."""
        self.asked.set()
        await self.go_on.wait()
        return await super().decide(request)


async def test_a_session_is_free_while_its_folder_writes() -> None:
    slow = Waiting(PLAN)
    async with Client(build_server(Pools(folder=slow))) as client, anyio.create_task_group() as tasks:
        await client.call_tool("open_session", {"session": "orders"})
        await client.call_tool("record", {"session": "orders", "step": order(1)})
        tasks.start_soon(client.call_tool, "plan", {"session": "orders"})
        await slow.asked.wait()
        shown = await client.call_tool("context", {"session": "orders"})
        assert "W-2001" in shown.content[0].text  # type: ignore[union-attr]
        slow.go_on.set()


@pytest.mark.parametrize(
    ("tool", "given", "good", "kind"),
    [
        ("fold", {"first_step": 1, "last_step": 2}, {"summary": "Looked up W-2001 and W-2002."}, "folded"),
        ("plan", {}, PLAN, "intent_set"),
        ("extract", {"need": "total of W-2001"}, {"selections": [{"ref": "s1.2:1-2"}]}, "extracted"),
        ("refactor", {"operator": "cognitive_boosting"}, {"text": "Look at W-2002 now."}, "refactored"),
        ("switch_branch", {"query": "W-2001?"}, {"action": "create", "step": "s1", "confidence": 0.9}, "moved"),
    ],
)
async def test_each_decision_a_host_leaves_out_is_the_models_else_the_embedded_deciders(
    tool: str, given: dict[str, Any], good: dict[str, Any], kind: str
) -> None:
    for name, replies in (("good", [good]), ("bad", [{"x": 1}, {"x": 1}])):
        with Session.open(name, goal="Look at orders") as session:
            for number in (1, 2, 3):
                session.record_step(**order(number))
        async with Client(build_server(Pools(folder=ScriptedModel(*replies, name="weak")))) as client:
            answer = await client.call_tool(tool, {"session": name, **given})
        assert not answer.is_error
        said = json.dumps([block.model_dump() for block in answer.content])
        assert ("weak was refused twice, at last for its form" in said) == (name == "bad")
    assert deciders("good")[kind] == {"model"}
    assert "model" not in deciders("bad").get(kind, set())


def test_without_its_key_the_server_serves_and_says_who_did_the_work(host: Callable[..., Host], tmp_path: Any) -> None:
    one = host(env=environment({"CTXFOLD_HOME": str(tmp_path), "CTXFOLD_FOLDER_MODEL": "claude-strong"}))
    one.begin()
    one.call("open_session", session="orders")
    answer = one.call("record", session="orders", user="Please refund order W-2003.")
    assert "claude-strong could not be asked: ModelKeyMissing" in answer
    assert one.process.stderr is not None
    one.process.kill()
    said = one.process.stderr.read().decode()
    assert "the embedded deciders take the place of " in said
    assert "ANTHROPIC_API_KEY" in said


def environment(given: dict[str, str]) -> dict[str, str]:
    """A server process's own environment."""
    return {name: os.environ[name] for name in ("HOME", "PATH")} | {"PYTHONPATH": str(ROOT)} | given
