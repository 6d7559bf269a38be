"""The adapter for Google, through its real SDK, against a strict server of generateContent on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from ctxfold import Session
from ctxfold.errors import ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.models import Model, Request, Tool, ask, load
from ctxfold.models.deciders import Deciders
from tests.support.chat import Said, Unwilling
from tests.support.gemini import Breach, GeminiServer, check_gemini

pytestmark = pytest.mark.anyio


class Step(BaseModel, frozen=True):
    """A small decision."""

    thought: str


TOOL = Tool.deciding(Step, "Say what to do next.")
GOOD = Said(calls=(("decide", {"thought": "read on"}),))


def request(*turns: tuple[str, str]) -> Request:
    messages = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in turns]
    return Request(system="You browse.", messages=messages, tool=TOOL)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Callable[[GeminiServer], Model]:
    def made(server: GeminiServer) -> Model:
        monkeypatch.setenv("GOOGLE_API_KEY", "g-key")
        monkeypatch.setenv("GOOGLE_BASE_URL", server.url)
        found = load("google:gemini-9")
        assert found is not None
        return found

    return made


def always(said: Said | Unwilling) -> Callable[[dict[str, Any]], Said | Unwilling]:
    return lambda _body: said


async def test_a_decision_comes_back_through_a_forced_function(model: Callable[[GeminiServer], Model]):
    with GeminiServer(always(GOOD), key="g-key") as server:
        reply = await model(server).decide(request(("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d")))
    assert (reply.arguments, reply.fault, server.refused) == ({"thought": "read on"}, None, [])
    assert reply.usage.input > 0
    (body,) = server.bodies
    assert [turn["role"] for turn in body["contents"]] == ["user", "model", "user"]
    assert body["systemInstruction"]["parts"] == [{"text": "You browse."}]
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


async def test_a_model_without_functions_is_asked_by_schema_and_then_in_words(model: Callable[[GeminiServer], Model]):
    def answer(body: dict[str, Any]) -> Said | Unwilling:
        if "tools" in body or "responseMimeType" in body.get("generationConfig", {}):
            return Unwilling(400, "Function calling is not enabled for this model")
        return Said('{"thought": "read on"}')

    with GeminiServer(answer) as server:
        step = await ask(model(server), request(("user", "the page")), Step.model_validate, lambda _reply: None)
    assert step == Step(thought="read on")
    assert len(server.bodies) == 3
    assert server.refused == []


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (Said(calls=(("decide", {}), ("decide", {}))), "more than once"),
        (Said("", (("decide", {"thought": "x"}),), "MAX_TOKENS"), "cut off"),
        (Said("no", (), "SAFETY"), "declined"),
        (Said("I would rather not."), "words alone"),
    ],
)
async def test_a_reply_that_holds_no_decision_says_why(said: Said, fault: str, model: Callable[[GeminiServer], Model]):
    with GeminiServer(always(said)) as server:
        reply = await model(server).decide(request(("user", "the page")))
    assert reply.arguments == {}
    assert fault in (reply.fault or "")


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        (Unwilling(403, "no", "PERMISSION_DENIED"), ModelKeyMissing, "refused the key"),
        (Unwilling(404, "gemini-9 is not found", "NOT_FOUND"), ModelUnavailable, "gemini-9"),
        (Unwilling(418, "teapot"), ModelError, "refused the request (418)"),
    ],
)
async def test_what_the_server_refuses_is_one_line_with_the_next_move(
    trouble: Unwilling, kind: type, words: str, model: Callable[[GeminiServer], Model]
):
    with GeminiServer(always(trouble)) as server, pytest.raises(kind) as raised:
        await model(server).decide(request(("user", "the page")))
    assert words in str(raised.value)
    assert "g-key" not in str(raised.value)


async def test_a_wrong_key_is_named_as_one(model: Callable[[GeminiServer], Model]):
    with (
        GeminiServer(always(GOOD), key="another") as server,
        pytest.raises(ModelKeyMissing, match="refused the key in GOOGLE_API_KEY"),
    ):
        await model(server).decide(request(("user", "the page")))


async def test_a_session_is_folded_and_planned_by_it_without_a_rejected_request(model: Callable[[GeminiServer], Model]):
    replies = {"keep": {"summary": "Looked up W-2001."}, "plan": {"summary": "The user asks for a refund."}}

    def answer(body: dict[str, Any]) -> Said:
        name = body["tools"][0]["functionDeclarations"][0]["name"]
        return Said(calls=((name, replies[name]),))

    with GeminiServer(answer) as server, Session.open("gemini", store=":memory:") as session:
        session.record_turn(user="Refund W-2001, please.")
        session.record_step("Looking.", [{"name": "get", "args": {"id": "W-2001"}, "id": "c1"}], [{"id": "c1", "text": "W-2001 is pending. " * 30}])  # fmt: skip
        folded = await Deciders(model(server)).fold(session, 1, 1)
        planned = await Deciders(model(server)).plan(session)
    assert (folded.decider, planned.decider, server.refused) == ("model", "model", [])


@pytest.mark.parametrize(
    "contents",
    [
        [{"role": "model", "parts": [{"text": "x"}]}],
        [{"role": "user", "parts": [{"text": ""}]}],
        [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}, {"role": "user", "parts": [{"text": "b"}]}],
        [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}],
        [{"role": "user", "parts": [{"text": "a"}], "name": "x"}],
    ],
)  # fmt: skip
def test_the_double_refuses_what_the_api_refuses(contents: list[dict[str, Any]]):
    with pytest.raises(Breach):
        check_gemini({"contents": contents})
