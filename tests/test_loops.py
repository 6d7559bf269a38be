"""The examples of native tool loops: sixty steps each at a flat context, against strict doubles that refuse what the API would."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.loops import TurnRequest, serve_turn
from ctxfold.models import Roles, ScriptedModel
from ctxfold.models.deciders import Deciders
from ctxfold.tokens import count
from tests.support.chat import ChatServer, Said
from tests.support.messages.server import Decide, MessagesServer, Words

LOOPS = Path(__file__).parents[1] / "examples" / "loops"
STEPS = 60
ROWS = [{"sku": f"A-{n}", "price": n * 3, "state": "delivered"} for n in range(8)]


def loop(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, LOOPS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where annotations are resolved
    spec.loader.exec_module(module)
    return module


def look_up(order: str) -> str:
    """What is known of an order."""
    return json.dumps({"order": order, "rows": ROWS})


def flat(bodies: list[Any], budget: int) -> None:
    """The prompts do not grow: each is within the budget, but for the form of its messages."""
    sizes = [count(json.dumps(body["messages"], ensure_ascii=False)) for body in bodies]
    assert len(sizes) == STEPS
    assert max(sizes[STEPS // 2 :]) <= 1.25 * max(sizes[: STEPS // 2])
    assert max(sizes) <= 2 * budget


@pytest.mark.anyio
async def test_anthropics_sdk_goes_sixty_steps_at_a_flat_context(monkeypatch: pytest.MonkeyPatch) -> None:
    module = loop("anthropic_sdk")

    def answer(_body: dict[str, Any]) -> Decide | Words:
        number = len(server.journal)
        if number == STEPS - 1:
            return Words("All are delivered.")
        if number == 20:
            return Decide({"query": "W-3"}, name="recall")
        return Decide({"order": f"W-{number}"}, name="look_up")

    with MessagesServer(answer) as server, Session.open("loop", goal="Look up orders", store=":memory:") as session:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        reply = await module.run(session, "claude-small", [look_up], "Look up all orders.", STEPS)
        assert (reply, session.tip) == ("All are delivered.", STEPS)
    assert {exchange.status for exchange in server.journal} == {200}
    flat([exchange.body for exchange in server.journal], module.BUDGET)
    assert sum(exchange.usage["cache_read_input_tokens"] for exchange in server.journal) > 0


def chat(body: dict[str, Any], server: ChatServer) -> Said:
    number = len(server.bodies)
    if number == STEPS:
        return Said("All are delivered.")
    return Said(calls=(("look_up", {"order": f"W-{number}"}),))


@pytest.mark.anyio
async def test_openais_sdk_goes_sixty_steps_at_a_flat_context(monkeypatch: pytest.MonkeyPatch) -> None:
    module = loop("openai_sdk")
    with ChatServer(lambda body: chat(body, server)) as server, Session.open("loop", store=":memory:") as session:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        assert await module.run(session, "small", [look_up], "Look up all orders.", STEPS) == "All are delivered."
        assert session.tip == STEPS
    assert server.refused == []
    flat(server.bodies, module.BUDGET)


@pytest.mark.long
def test_an_agent_of_pydantic_ai_goes_sixty_steps_at_a_flat_context() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    module = loop("pydantic_ai_agent")
    with ChatServer(lambda body: chat(body, server)) as server, Session.open("loop", store=":memory:") as session:
        model = OpenAIChatModel("small", provider=OpenAIProvider(base_url=server.url, api_key="any"))
        agent = Agent(model, tools=[look_up], capabilities=[ProcessHistory(module.FlatHistory(session))])
        done = agent.run_sync("Look up all orders.", usage_limits=UsageLimits(request_limit=STEPS + 5))
        assert done.output == "All are delivered."
        assert session.tip == STEPS - 1
        assert session.recall("s1.1").text == "Look up all orders."
    assert server.refused == []
    flat(server.bodies, module.BUDGET)


@pytest.mark.long
def test_an_agent_of_langchain_goes_sixty_steps_at_a_flat_context(monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    monkeypatch.setenv("OPENAI_API_KEY", "any")
    module = loop("langchain_agent")
    with ChatServer(lambda body: chat(body, server)) as server, Session.open("loop", store=":memory:") as session:
        model = ChatOpenAI(model="small", base_url=server.url)
        agent: Any = create_agent(model, [look_up], middleware=[module.FlatContext(session)])
        asked = {"messages": [{"role": "user", "content": "Look up all orders."}]}
        done = agent.invoke(asked, {"recursion_limit": 4 * STEPS})
        assert done["messages"][-1].text == "All are delivered."
        assert session.tip == STEPS - 1
    assert server.refused == []
    flat(server.bodies, module.BUDGET)


@pytest.mark.anyio
async def test_a_turn_plans_extracts_calls_and_records_until_the_reply() -> None:
    requests: list[TurnRequest] = []
    steps_before_calls: list[int] = []

    async def order(number: int) -> dict[str, Any]:
        """An order by its number."""
        steps_before_calls.append(session.tip)
        return {"order": f"W-{number}", "rows": ROWS}

    def pay(amount: float) -> str:
        """Pay an amount in EUR."""
        raise ValueError(f"no more than 400 EUR, not {amount}")

    asked = [("order", {"number": 7}), ("order", {"number": "x"}), ("pay", {"amount": 500}), ("fly", {})]

    async def ask(request: TurnRequest) -> object:
        requests.append(request)
        if len(requests) > len(asked):
            return {"role": "assistant", "content": "It is delivered; the payment was refused."}
        name, given = asked[len(requests) - 1]
        call = {"type": "tool_use", "id": f"u{len(requests)}", "name": name, "input": given}
        return {"role": "assistant", "content": [call]}

    plan = {"todo": [{"text": "Look up order 7"}], "constraints": [{"text": "at most 400 EUR"}]}
    planner = ScriptedModel(plan, name="planner")
    with Session.open("served", store=":memory:") as session:
        deciders = Deciders(Roles(planner=planner))
        words = "Look up order 7, then pay at most 400 EUR."
        served = await serve_turn(session, words, [order, pay], ask, deciders, system="Be polite.")
        assert served.reply == "It is delivered; the payment was refused."
        assert served.steps == (1, 2, 3, 4, 5)
        assert steps_before_calls == [1], "a call is recorded before it is carried out"
        texts = [session.recall(f"s{step}").text for step in served.steps]
        assert words in texts[0]
        assert '"order": "W-7"' in texts[0]
        assert "refused" in texts[1]
        assert "error: ValueError: no more than 400 EUR" in texts[2]
        assert "call one of" in texts[3]
        assert served.reply in texts[4]
        assert [item.text for item in session.intent.open] == ["Look up order 7"]
        assert all(request.system.startswith("Be polite.") for request in requests)
        assert "c1 at most 400 EUR" in requests[0].view.text
        assert {"order", "pay", "recall"} <= {tool["name"] for tool in requests[0].as_anthropic()["tools"]}
        assert requests[0].as_openai()["messages"][0]["role"] == "system"


@pytest.mark.anyio
async def test_a_turn_ends_without_a_reply_when_its_requests_run_out() -> None:
    async def ask(request: TurnRequest) -> object:
        call = {"type": "tool_use", "id": "u", "name": "look_up", "input": {"order": "W"}}
        return {"role": "assistant", "content": [call]}

    with Session.open("endless", store=":memory:") as session:
        served = await serve_turn(session, "Look up.", [look_up], ask, most=3)
        assert (served.reply, len(served.steps), session.tip) == ("", 3, 3)
        with pytest.raises(InputError):
            await serve_turn(session, "Again.", [look_up, look_up], ask)
