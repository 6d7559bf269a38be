"""The adapter for other providers, through the real libraries, against a strict server of chat completions on loopback."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ctxfold.config import Endpoint, endpoint
from ctxfold.errors import ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.models import Model, Request, ScriptedModel, Tool, ask, load, named
from ctxfold.models.providers import ProviderModel
from tests.support.chat import ChatServer, Said, Unwilling

pytestmark = pytest.mark.anyio


class Step(BaseModel, frozen=True):
    """A small decision."""

    thought: str
    clicks: list[str] = []


TOOL = Tool.deciding(Step, "Say what to do next.")


def request(*texts: str) -> Request:
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts]
    return Request(system="You browse.", messages=messages, tool=TOOL)


def model(server: ChatServer, scheme: str = "openai") -> Model:
    found = load(f"{scheme}:small@{server.url}")
    assert found is not None
    return found


def always(said: Said | Unwilling) -> Callable[[dict[str, Any]], Said | Unwilling]:
    return lambda _body: said


@pytest.mark.parametrize("scheme", ["openai", "ollama"])
async def test_a_decision_comes_back_through_a_forced_tool(scheme: str):
    with ChatServer(always(Said(calls=(("decide", {"thought": "read on"}),)))) as server:
        reply = await model(server, scheme).decide(request("the page", "lone \ud800 half"))
    assert (reply.arguments, reply.fault, reply.model) == ({"thought": "read on"}, None, "small")
    assert reply.usage.input > 0
    body = server.bodies[0]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["tool_choice"] == "required"
    assert body["tools"][0]["function"]["name"] == "decide"


async def test_a_server_without_tools_is_asked_by_schema_and_one_that_only_chats_in_words():
    def answer(body: dict[str, Any]) -> Said | Unwilling:
        if "tools" in body:
            return Unwilling(400, "this model does not support tools")
        return Said('{"thought": "read on"}')

    with ChatServer(answer) as server:
        asked = model(server)
        for _ in range(2):
            step = await ask(asked, request("the page"), Step.model_validate, lambda _reply: None)
            assert step == Step(thought="read on")
    assert [("tools" in body, "response_format" in body) for body in server.bodies] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    with ChatServer(always(Said('{"thought": "read on"}')), plain=True) as server:
        step = await ask(model(server), request("the page"), Step.model_validate, lambda _reply: None)
        assert step.thought == "read on"
        assert len(server.refused) == 2
    assert '"properties"' in server.bodies[0]["messages"][0]["content"], "the form is said where it cannot be forced"


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (Said(calls=(("decide", "{not json"),)), "not a JSON object"),
        (Said(calls=(("decide", {}), ("decide", {}))), "more than once"),
        (Said("", (("decide", {"thought": "x"}),), "length"), "cut off"),
        (Said("", (), "content_filter"), "declined"),
        (Said(calls=(("other", {"thought": "x"}),)), "words alone"),
    ],
)
async def test_a_reply_that_holds_no_decision_says_why(said: Said, fault: str):
    with ChatServer(always(said)) as server:
        reply = await model(server).decide(request("the page"))
    assert reply.arguments == {}
    assert reply.fault is not None
    assert fault in reply.fault


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        (Unwilling(401, "Incorrect API key", "invalid_api_key"), ModelKeyMissing, "refused the key"),
        (Unwilling(403, "no"), ModelKeyMissing, "refused the key"),
        (Unwilling(400, "messages too long", "context_length_exceeded"), ModelError, "too large"),
        (Unwilling(418, "teapot"), ModelError, "refused the request (418)"),
    ],
)
async def test_what_a_server_refuses_is_one_line_with_the_next_move(trouble: Unwilling, kind: type, words: str):
    with ChatServer(always(trouble)) as server:
        with pytest.raises(kind) as raised:
            await model(server).decide(request("the page"))
        assert words in str(raised.value)
        assert server.url in str(raised.value) or "small" in str(raised.value)


async def test_a_server_that_is_not_there_or_speaks_something_else_is_named():
    with ChatServer(always(Said("x"))) as server:
        gone = server.url
        found = load(f"openai:small@{server.url.removesuffix('/v1')}")
        assert found is not None
        with pytest.raises(ModelUnavailable, match=r"does not speak this API|knows no model"):
            await found.decide(request("the page"))
    found = load(f"openai:small@{gone}")
    assert found is not None
    with pytest.raises(ModelUnavailable, match="cannot reach"):
        await found.decide(request("the page"))


async def test_a_providers_key_never_goes_to_another_server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-secret")
    with ChatServer(always(Said(calls=(("decide", {"thought": "x"}),)))) as server:
        await model(server).decide(request("the page"))
        monkeypatch.setenv("CTXFOLD_AGENT_KEY", "for-that-server")
        await model(server).decide(request("the page"))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.delenv("CTXFOLD_AGENT_KEY")
        found = load("openai:small")
        assert found is not None
        await found.decide(request("the page"))
    assert server.keys == ["no-key", "for-that-server", "sk-openai-secret"]
    assert "secret" not in repr(endpoint("openai"))


def test_a_key_that_lacks_is_named_before_anything_is_begun(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ModelKeyMissing, match="set OPENAI_API_KEY"):
        load("openai:gpt-9")
    with pytest.raises(ModelKeyMissing, match="set GOOGLE_API_KEY"):
        load("google:gemini-9")
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    assert load("google:gemini-9") is not None
    assert load("ollama:qwen3:8b") is not None


def test_another_package_brings_a_provider_through_an_entry_point(monkeypatch: pytest.MonkeyPatch):
    brought = EntryPoint("acme", f"{__name__}:acme", named.GROUP)

    def found(group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
        return (brought,) if group == named.GROUP and name in (None, "acme") else ()

    monkeypatch.setattr(named, "entry_points", found)
    monkeypatch.setenv("ACME_API_KEY", "sk-acme")
    monkeypatch.setenv("ACME_BASE_URL", "http://127.0.0.1:9/v2")
    made = load("acme:road-runner")
    assert isinstance(made, ScriptedModel)
    assert made.name == "road-runner at http://127.0.0.1:9/v2 with sk-acme"


def acme(name: str, endpoint: Endpoint) -> Model:
    """A provider as another package would bring it."""
    return ScriptedModel(name=f"{name} at {endpoint.url} with {endpoint.secret}")


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (ModelHTTPError(400, "g", {"error": {"details": [{"reason": "API_KEY_INVALID"}]}}), ModelKeyMissing, "GOOGLE_API_KEY"),
        (ModelHTTPError(404, "g"), ModelUnavailable, "does not speak this API"),
        (ModelHTTPError(503, "g"), ModelUnavailable, "overloaded or failing (503)"),
        (UnexpectedModelBehavior("odd"), ModelUnavailable, "check the endpoint"),
    ],
)  # fmt: skip
async def test_google_is_asked_by_the_same_adapter_and_its_faults_are_worded_alike(
    fault: Exception, kind: type, words: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_API_KEY", "g-key")
    google = load("google:gemini-9")
    assert isinstance(google, ProviderModel)
    sent: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], asked: AgentInfo) -> ModelResponse:
        sent.append(messages)
        assert asked.output_tools[0].name == "decide"
        return ModelResponse([ToolCallPart("decide", {"thought": "read on"})])

    def fail(_messages: list[ModelMessage], _asked: AgentInfo) -> ModelResponse:
        raise fault

    monkeypatch.setattr(google, "_make_model", lambda: FunctionModel(answer))
    assert (await google.decide(request("a", "b"))).arguments == {"thought": "read on"}
    assert [part.content for message in sent[0] for part in message.parts if isinstance(part, UserPromptPart)] == [
        "a\nb"
    ]
    monkeypatch.setattr(google, "_make_model", lambda: FunctionModel(fail))
    with pytest.raises(kind) as raised:
        await google.decide(request("the page"))
    assert words in str(raised.value)
    assert "g-key" not in str(raised.value)
