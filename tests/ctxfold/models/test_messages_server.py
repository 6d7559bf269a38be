"""The double of the Messages API is as strict as the API, and accounts for its cache."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.support.messages.rules import Breach, checked
from tests.support.messages.server import Decide, MessagesServer, Words, in_turn

HEADERS = {"x-api-key": "k", "anthropic-version": "2026-10-21", "content-type": "application/json"}
MARK = {"cache_control": {"type": "ephemeral"}}
TOOL = {"name": "decide", "description": "Decide.", "input_schema": {"type": "object", "properties": {}}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def body(**changes: Any) -> dict[str, Any]:
    plain = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}
    return {name: value for name, value in {**plain, **changes}.items() if value is not None}


def post(
    server: MessagesServer,
    request: dict[str, Any] | bytes,
    path: str = "/v1/messages",
    headers: dict[str, str] = HEADERS,
) -> tuple[int, dict[str, Any]]:
    raw = request if isinstance(request, bytes) else json.dumps(request).encode()
    asked = urllib.request.Request(server.url + path, data=raw, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


def call(at: int) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{at}", "name": "decide", "input": {}}]}


def result(at: int) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{at}", "content": "done"}]}


HELLO = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("request_body", "said"),
    [
        (body(max_tokens=None), "max_tokens: Field required"),
        (body(max_tokens="100"), "max_tokens: Input should be a valid integer"),
        (body(temperature=0.2), "temperature: Extra inputs are not permitted"),
        (body(messages=[]), "messages: List should have at least 1 item"),
        (body(messages=[{"role": "system", "content": "x"}]), "messages.0.role: Input should be 'user' or 'assistant'"),
        (body(messages=[{"role": "assistant", "content": "x"}, HELLO]), "first message must use the `user` role"),
        (body(messages=[HELLO, {"role": "assistant", "content": "x"}]), "does not support assistant message prefill"),
        (body(messages=[{"role": "user", "content": [text(" \n")]}]), "must contain non-whitespace text"),
        (body(messages=[{"role": "user", "content": [{"text": "x"}]}]), "Unable to extract tag"),
        (body(messages=[{"role": "user", "content": [text("x", colour="red")]}]), "colour: Extra inputs"),
        (body(messages=[HELLO, call(1), HELLO]), "were found without `tool_result` blocks immediately after"),
        (body(messages=[HELLO, result(1)]), "`tool_result` without a `tool_use`"),
        (body(messages=[{"role": "user", "content": call(1)["content"]}]), "have no place in user messages"),
        (body(system=[text(str(n), **MARK) for n in range(5)]), "A maximum of 4 blocks with cache_control"),
        (body(system=[text("x", cache_control={"type": "forever"})]), "cache_control.type: Input should be"),
        (body(tools=[{**TOOL, "name": "not a name"}]), "tools.0.name: String should match pattern"),
        (body(tools=[{**TOOL, "input_schema": {"type": "string"}}]), "input_schema.type: Input should be 'object'"),
        (body(tools=[{**TOOL, "input_schema": {"type": "object", "anyOf": []}}]), "anyOf at the top level"),
        (
            body(tools=[{**TOOL, "input_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}}]),
            "unresolved #/$defs/A",
        ),
        (body(tools=[TOOL, TOOL]), "Tool names must be unique"),
        (body(tools=[TOOL], tool_choice={"type": "any"}), "forced tool use is not supported"),
        (body(tool_choice={"type": "auto"}), "may only be specified while providing tools"),
    ],
)
def test_what_the_api_refuses_is_refused_with_its_words(request_body: dict[str, Any], said: str):
    with pytest.raises(Breach, match=re.escape(said)):
        checked(request_body)


@pytest.mark.parametrize("sent", [b"{not json", body(messages=[])], ids=["no JSON", "a breach"])
def test_a_refusal_has_the_apis_shape(sent: dict[str, Any] | bytes):
    with MessagesServer(in_turn()) as server:
        status, answer = post(server, sent)
    assert (status, answer["type"], answer["error"]["type"]) == (400, "error", "invalid_request_error")
    assert answer["request_id"]
    assert [exchange.status for exchange in server.journal] == [400]


@pytest.mark.parametrize(
    ("missing", "status", "kind"),
    [
        ("x-api-key", 401, "authentication_error"),
        ("anthropic-version", 400, "invalid_request_error"),
        ("content-type", 400, "invalid_request_error"),
    ],
)
def test_a_missing_header_is_refused(missing: str, status: int, kind: str):
    headers = {name: value for name, value in HEADERS.items() if name != missing}
    with MessagesServer(in_turn(Words("hi"))) as server:
        answered, answer = post(server, body(), headers=headers)
    assert (answered, answer["error"]["type"]) == (status, kind)


def test_only_its_own_key_is_let_in_as_a_key_or_as_a_bearer():
    with MessagesServer(lambda _body: Words("hi"), key="right") as server:
        assert post(server, body())[0] == 401
        assert post(server, body(), headers={**HEADERS, "x-api-key": "right"})[0] == 200
        bearer = {name: value for name, value in HEADERS.items() if name != "x-api-key"}
        assert post(server, body(), headers={**bearer, "authorization": "Bearer right"})[0] == 200


def test_a_marked_prefix_is_written_once_and_read_after_that():
    long = "a system text that is long enough to be kept. " * 100
    asked = body(system=[text(long, **MARK)])
    with MessagesServer(lambda _body: Words("hi")) as server:
        first, second = (post(server, asked)[1]["usage"] for _ in range(2))
        other = post(server, {**asked, "model": "claude-opus-5-5"})[1]["usage"]
    assert first["cache_creation_input_tokens"] > 512
    assert first["cache_read_input_tokens"] == 0
    assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]
    assert second["cache_creation_input_tokens"] == 0
    assert first["input_tokens"] == second["input_tokens"] == 1
    assert other["cache_read_input_tokens"] == 0


def test_a_kept_prefix_further_back_than_twenty_blocks_is_not_found():
    many = [text(f"block {n}: " + "words that count for something here " * 8) for n in range(40)]

    def asked(end: int) -> dict[str, Any]:
        return body(messages=[{"role": "user", "content": [*many[:end], text("last", **MARK)]}])

    with MessagesServer(lambda _body: Words("hi")) as server:
        post(server, body(messages=[{"role": "user", "content": [*many[:15], {**many[15], **MARK}]}]))
        near = post(server, asked(35))[1]["usage"]
        far = post(server, asked(37))[1]["usage"]
    assert near["cache_read_input_tokens"] > 0
    assert far["cache_read_input_tokens"] == 0


def test_thinking_that_comes_back_must_stand_behind_the_prompt_it_was_given_for():
    with MessagesServer(lambda _body: Decide({"a": 1}, thinking="hm")) as server:
        given = post(server, body(tools=[TOOL]))[1]["content"]
        answered = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": given[1]["id"]}]}
        turn = {"role": "assistant", "content": given}
        assert post(server, body(tools=[TOOL], messages=[HELLO, turn, answered]))[0] == 200
        changed = {"role": "user", "content": "hello, folded"}
        status, answer = post(server, body(tools=[TOOL], messages=[changed, turn, answered]))
    assert status == 400
    assert "must follow the prefix they were given for" in answer["error"]["message"]
