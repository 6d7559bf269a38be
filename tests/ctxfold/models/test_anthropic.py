"""The adapter for the Messages API, through the real SDK, against a strict server on loopback."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from ctxfold.config import Endpoint
from ctxfold.errors import InvalidReply, ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.messages.apis import cache_marks as marks
from ctxfold.models import Reply, Request, Tool, ask
from ctxfold.models.anthropic import AnthropicModel, body
from ctxfold.tokens import count
from tests.support.messages.rules import checked
from tests.support.messages.server import Answer, Decide, MessagesServer, Raw, Trouble, Words, in_turn

pytestmark = pytest.mark.anyio

MODEL = "claude-sonnet-5-5"
KEY = "sk-ant-test-0123456789"


class Step(BaseModel, frozen=True):
    """A small decision."""

    thought: str
    clicks: list[str] = []


TOOL = Tool.deciding(Step, "Say what to do next.")


def request(*texts: str, stable: int = 0, system: str = "You browse.") -> Request:
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts]
    return Request(system=system, messages=messages, tool=TOOL, stable=stable)


def model(url: str, key: str | None = KEY, *, bearer: bool = False, patience: float = 20.0) -> AnthropicModel:
    variable = "ANTHROPIC_AUTH_TOKEN" if bearer else "ANTHROPIC_API_KEY"
    return AnthropicModel(MODEL, Endpoint(url, True, variable if key else None, key), patience)


async def decided(answer: Callable[[dict[str, Any]], Answer], asked: Request, key: str | None = KEY) -> Reply:
    with MessagesServer(answer, key=KEY) as server:
        return await model(server.url, key).decide(asked)


async def test_a_decision_comes_back_with_its_usage_and_the_model_that_gave_it():
    reply = await decided(in_turn(Decide({"thought": "read on"})), request("the page"))
    assert reply.arguments == {"thought": "read on"}
    assert reply.model == MODEL
    assert reply.fault is None
    assert reply.usage.prompt > 0
    assert reply.usage.output > 0


async def test_a_token_is_sent_where_a_token_is_what_is_set():
    with MessagesServer(in_turn(Decide({"thought": "ok"})), key="bearer-token") as server:
        reply = await model(server.url, "bearer-token", bearer=True).decide(request("the page"))
    assert reply.fault is None


async def test_no_tool_is_forced_and_the_current_observation_stands_last_and_unmarked():
    with MessagesServer(in_turn(Decide({"thought": "ok"}))) as server:
        await model(server.url).decide(request("goal", "s1", "the page now", stable=2))
    sent = server.journal[0].body
    assert sent["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    content = sent["messages"][-1]["content"]
    assert [block["text"] for block in content] == ["goal", "s1", "the page now"]
    assert ["cache_control" in block for block in content] == [True, True, False]
    assert "cache_control" in sent["system"][0]


@pytest.mark.parametrize("stable", [0, 1, 2, 16, 17, 40, 63, 64, 65, 900])
def test_a_request_never_carries_more_than_four_cache_marks(stable: int):
    asked = request(*[f"block {n}" for n in range(stable + 1)], stable=stable)
    sent = body(MODEL, asked)
    checked(sent)
    assert len(marks(stable)) <= 3
    assert all(at < stable for at in marks(stable))


async def test_a_growing_view_is_read_from_the_cache_and_so_is_what_stands_before_a_consolidation():
    steps = [f"s{n}: " + "what this step found and where it stands " * 20 for n in range(1, 60)]
    with MessagesServer(lambda _body: Decide({"thought": "ok"})) as server:
        claude = model(server.url)
        for n in range(1, 41):
            await claude.decide(request("goal", *steps[:n], f"page {n}", stable=n + 1))
        before = server.journal[-1].usage
        consolidated = [*steps[:20], "s21-s40 folded", *steps[40:41]]
        reply = await claude.decide(request("goal", *consolidated, "page 41", stable=len(consolidated) + 1))
    read, written = before["cache_read_input_tokens"], before["cache_creation_input_tokens"]
    assert read > 0.95 * (read + written)
    before_the_fold = sum(count(text) for text in ["goal", *steps[:15]])
    assert reply.usage.cache_read >= before_the_fold


async def test_folding_the_latest_step_each_time_leaves_all_before_it_in_the_cache():
    long = "what this step found and where it stands " * 20
    with MessagesServer(lambda _body: Decide({"thought": "ok"})) as server:
        claude = model(server.url)
        for n in range(1, 31):
            folded = [f"s{at} folded: {long}" for at in range(1, n)]
            await claude.decide(request("goal", *folded, f"s{n}: {long}", f"page {n}", stable=n + 1))
    usage = server.journal[-1].usage
    read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    assert written <= 2 * count(f"s30 folded: {long}") + 8
    assert read > 0.9 * (read + written)


async def test_malformed_input_goes_back_once_with_the_reason_and_is_then_counted():
    seen: list[Reply] = []
    answers = in_turn(Decide({"clicks": "e1"}), Decide({"clicks": ["e1"]}))
    with MessagesServer(answers) as server:
        with pytest.raises(InvalidReply, match="twice gave a decision that does not fit"):
            await ask(model(server.url), request("the page"), Step.model_validate, seen.append)
        told = server.journal[1].body["messages"][-1]["content"][-1]["text"]
    assert "thought: Field required" in told
    assert len(seen) == 2
    assert all(reply.usage.prompt > 0 for reply in seen)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Words("I would click the second link."), "words alone"),
        (Words("I would", stop_reason="max_tokens"), "cut off at"),
        (Words("No.", stop_reason="refusal"), "declined"),
        (Decide({"thought": "a"}, times=2), "more than once"),
        (Decide({"thought": "a"}, name="other"), "words alone"),
        (Decide("thought: a"), "not a JSON object"),
    ],
)
async def test_a_reply_without_a_decision_says_why(answer: Answer, fault: str):
    reply = await decided(in_turn(answer), request("the page"))
    assert reply.arguments == {}
    assert fault in (reply.fault or "")
    assert reply.usage.output > 0


def test_without_a_key_there_is_no_model_and_the_line_says_what_to_set():
    with pytest.raises(ModelKeyMissing, match=r"set ANTHROPIC_API_KEY \(any value, if that server asks for none\)"):
        model("http://127.0.0.1:9", None)
    with pytest.raises(ModelKeyMissing, match="set ANTHROPIC_API_KEY, or use --model explorer"):
        AnthropicModel(MODEL, Endpoint("https://api.anthropic.com", False, None, None))


async def test_a_refused_key_is_one_line_without_the_key():
    with pytest.raises(ModelKeyMissing) as caught:
        await decided(in_turn(), request("the page"), key="sk-ant-wrong-secret")
    assert "refused the key in ANTHROPIC_API_KEY" in str(caught.value)
    assert "sk-ant-wrong-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_short_wait_the_server_asks_for_is_waited_out():
    busy = Trouble(429, "rate_limit_error", "slow down", retry_after="0.05")
    reply = await decided(in_turn(busy, busy, Decide({"thought": "ok"})), request("the page"))
    assert reply.arguments == {"thought": "ok"}


async def test_a_long_wait_the_server_asks_for_is_told_and_not_slept():
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match="limits the rate of this key: try again in 3600 s"):
        await decided(in_turn(Trouble(429, "rate_limit_error", "later", retry_after="3600")), request("the page"))
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("trouble", "error", "said"),
    [
        (Trouble(529, "overloaded_error", "Overloaded", retry_after="0"), ModelUnavailable, "overloaded or failing"),
        (Trouble(500, "api_error", "Internal", retry_after="0"), ModelUnavailable, "overloaded or failing"),
        (Trouble(402, "billing_error", "pay"), ModelUnavailable, "no credit left"),
        (Trouble(403, "permission_error", "no"), ModelKeyMissing, "refused the key"),
        (Trouble(404, "not_found_error", "model: x"), ModelUnavailable, "name another with --model"),
        (Trouble(413, "request_too_large", "big"), ModelError, "lower --budget"),
        (Trouble(400, "invalid_request_error", "messages: no"), ModelError, "refused the request (400): messages: no"),
    ],
)
async def test_each_trouble_of_the_server_is_one_line_that_names_the_next_move(
    trouble: Trouble, error: type[ModelError], said: str
):
    with pytest.raises(error) as caught:
        await decided(in_turn(*itertools.repeat(trouble, 3)), request("the page"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "answer", [Raw(b"<html>hello</html>"), Raw(b"{}", "application/json"), Raw(b"nope", "text/html", status=404)]
)
async def test_another_kind_of_server_is_named_as_such(answer: Raw):
    with pytest.raises(ModelUnavailable, match="check ANTHROPIC_BASE_URL"):
        await decided(in_turn(answer), request("the page"))


async def test_a_server_that_is_not_there_is_named_with_what_to_check():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(ModelUnavailable, match="check ANTHROPIC_BASE_URL and that the server runs"):
            await model(url).decide(request("the page"))


async def test_text_no_encoder_takes_still_reaches_the_model():
    with MessagesServer(in_turn(Decide({"thought": "ok"}))) as server:
        await model(server.url).decide(request("half a pair: \ud800.", system="s \udfff"))
    assert "half a pair" in server.journal[0].body["messages"][0]["content"][0]["text"]
