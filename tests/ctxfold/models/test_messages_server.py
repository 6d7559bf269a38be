"""The double of the Messages API is as strict as the API, and accounts for its cache."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.support.messages.rules import Breach, checked
from tests.support.messages.server import MessagesServer, Words

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


HELLO = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("request_body", "said"),
    [
        (body(max_tokens=None), "max_tokens: Field required"),
        (body(temperature=0.2), "temperature: Extra inputs are not permitted"),
        (body(messages=[{"role": "system", "content": "x"}]), "messages.0.role: Input should be 'user' or 'assistant'"),
        (body(messages=[HELLO, {"role": "assistant", "content": "x"}]), "does not support assistant message prefill"),
        (body(messages=[{"role": "user", "content": [{"text": "x"}]}]), "Unable to extract tag"),
        (body(messages=[HELLO, call(1), HELLO]), "were found without `tool_result` blocks immediately after"),
        (body(messages=[{"role": "user", "content": call(1)["content"]}]), "have no place in user messages"),
        (body(system=[text("x", cache_control={"type": "forever"})]), "cache_control.type: Input should be"),
        (body(tools=[{**TOOL, "input_schema": {"type": "string"}}]), "input_schema.type: Input should be 'object'"),
        (
            body(tools=[{**TOOL, "input_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}}]),
            "unresolved #/$defs/A",
        ),
        (body(tools=[TOOL], tool_choice={"type": "any"}), "forced tool use is not supported"),
    ],
)
def test_what_the_api_refuses_is_refused_with_its_words(request_body: dict[str, Any], said: str):
    with pytest.raises(Breach, match=re.escape(said)):
        checked(request_body)


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
