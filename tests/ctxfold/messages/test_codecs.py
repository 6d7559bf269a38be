"""One suite for every codec: to decode, encode and decode again changes nothing, and what nobody changed goes out as it came."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import ContentBlock, TextBlock, ThinkingBlock, ToolUseBlock, Usage
from anthropic.types import Message as AnthropicMessage
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage

from ctxfold.errors import InputError, RefError
from ctxfold.messages import Call, Message, Opaque, Result, Text
from ctxfold.messages.apis import read_messages
from ctxfold.messages.hosts import CODECS
from ctxfold.session.record import read_step
from tests.support.chat import check_chat
from tests.support.messages.rules import checked

RECORDED = Path(__file__).parent / "recorded"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 500}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "x"}
SAID = {"type": "text", "text": "Looking."}

NATIVES: dict[str, list[Any]] = {
    "anthropic": [
        {"role": "user", "content": "List the rows"},
        {"role": "user", "content": [{"type": "text", "text": "See"}, IMAGE]},
        {"role": "assistant", "content": [THINKING, SAID, {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [SAID, IMAGE], "is_error": True},
                {"type": "text", "text": "Go on"},
            ],
        },
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}]},
    ],
    "openai": [
        {"role": "developer", "content": "Be brief"},
        {"role": "user", "content": [SAID, {"type": "image_url", "image_url": {"url": "data:,"}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}},
                {"id": "c2", "type": "function", "function": {"name": "ls", "arguments": "not json"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two"}]},
        {"type": "function_call", "call_id": "f1", "name": "ls", "arguments": ""},
        {"type": "function_call_output", "call_id": "f1", "output": "three"},
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ],
    "claude-code": [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Summary"}, "isCompactSummary": True},
        {"type": "assistant", "uuid": "a1", "message": {"role": "assistant", "content": [THINKING]}},
    ],
    "codex": [
        {"type": "compacted", "timestamp": "t1", "payload": {"message": "Summary"}},
        {
            "type": "response_item",
            "timestamp": "t2",
            "payload": {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin"},
        },
        {
            "type": "response_item",
            "timestamp": "t3",
            "payload": {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}},
        },
        {
            "type": "response_item",
            "timestamp": "t4",
            "payload": {"type": "custom_tool_call_output", "call_id": "c1", "output": {"content": "ok"}},
        },
        {"type": "response_item", "timestamp": "t5", "payload": {"type": "reasoning", "summary": []}},
        {"type": "event_msg", "timestamp": "t6", "payload": {"type": "user_message", "message": "Go on"}},
    ],
    "gemini": [
        {"type": "user", "id": "u1", "content": [{"text": "<scratchpad/><state_snapshot>Rows.</state_snapshot>"}]},
        {"type": "user", "id": "u2", "content": [{"functionResponse": {"id": "c", "response": {"error": "no"}}}]},
        {"type": "user", "id": "u3", "content": [{"text": "See"}, {"inlineData": {"data": "AAAA"}}]},
        {"type": "gemini", "id": "g1", "content": "", "toolCalls": [{"id": "c9", "name": "ls", "args": {}}]},
    ],
    "opencode": [
        {"info": {"id": "m1", "role": "assistant", "summary": True}, "parts": [{"type": "text", "text": "Rows."}]},
        {
            "info": {"id": "m2", "role": "assistant"},
            "parts": [
                {"type": "step-start"},
                {"type": "tool", "tool": "ls", "callID": "c1", "state": {"input": {}, "error": "no"}},
                {"type": "tool", "tool": "ls", "callID": "c2", "state": {"input": {}}},
                {"type": "text", "text": "Both."},
            ],
        },
    ],
    "pi": [
        {"type": "message", "id": "p1", "message": {"role": "bashExecution", "command": "ls", "output": "a"}},
        {"type": "message", "id": "p2", "message": {"role": "user", "content": [{"type": "image", "data": "AAAA"}]}},
    ],
}
"""What the recorded transcripts lack."""


def recorded(dialect: str) -> list[Any]:
    """The natives of a transcript of a host, as it was recorded."""
    file = next(RECORDED.glob(f"{dialect}.*"), None)
    if file is None:
        return []
    lines = [file.read_text()] if file.suffix == ".json" else file.read_text().splitlines()
    return [json.loads(line) for line in lines]


def decoded(dialect: str, natives: Sequence[Any]) -> list[Message]:
    return [message for native in natives for message in CODECS[dialect].decode(native)]


def encoded(dialect: str, messages: Sequence[Message]) -> list[Any]:
    return CODECS[dialect].encode(messages, handles=False)


def contents(messages: Sequence[Message]) -> list[str]:
    """What messages say, call and return, whatever message holds it."""
    said = [item.text for message in messages for item in message.items if isinstance(item, Text | Opaque)]
    rest = [item for message in messages for item in message.items if isinstance(item, Call | Result)]
    lines = "\n".join(filter(None, said)).split("\n")
    return sorted([*lines, *(json.dumps([type(each).__name__, *map(str, _fields(each))]) for each in rest)])


def _fields(item: Call | Result) -> list[Any]:
    """Of a call its arguments as an object: Anthropic's API takes nothing else."""
    if isinstance(item, Result):
        return [item.id, item.text]
    return [item.id, item.name, item.args if isinstance(item.args, dict) else {"value": item.args}]


@pytest.mark.parametrize("dialect", CODECS)
def test_decode_encode_decode_changes_nothing(dialect: str) -> None:
    for natives in (recorded(dialect), NATIVES[dialect]):
        messages = decoded(dialect, natives)
        assert decoded(dialect, encoded(dialect, messages)) == messages


@pytest.mark.parametrize("dialect", CODECS)
def test_a_message_that_nobody_changed_goes_out_byte_for_byte_and_a_changed_one_anew(dialect: str) -> None:
    messages = decoded(dialect, [*recorded(dialect), *NATIVES[dialect]])
    out = CODECS[dialect].encode(messages)
    assert all(native is message.handle for native, message in zip(out, messages, strict=True))
    changed = replace(messages[-1], items=(Text("Otherwise."),), handle=None)
    out = CODECS[dialect].encode([*messages[:-1], changed])
    assert all(native is message.handle for native, message in zip(out, messages[:-1], strict=False))
    assert [message.text for message in decoded(dialect, out[len(messages) - 1 :])] == ["Otherwise."]


@pytest.mark.parametrize("source", CODECS)
@pytest.mark.parametrize("target", CODECS)
def test_what_one_dialect_says_every_other_can_say(source: str, target: str) -> None:
    messages = decoded(source, [*recorded(source), *NATIVES[source]])
    assert contents(decoded(target, CODECS[target].encode(messages))) == contents(messages)


_WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12).filter(str.strip)
_TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=5,
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Words, calls with unique ids and results, late or missing ones included, by either side."""
    messages: list[Message] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(1, 5))):
        said = [Text(word) for word in draw(st.lists(_WORDS, max_size=2))]
        if draw(st.booleans()):
            calls = [
                Call(f"tool_{at}", draw(st.dictionaries(_WORDS, _TREES, max_size=2)), f"c{number}_{at}")
                for at in range(draw(st.integers(0, 2)))
            ]
            waiting += [call.id for call in calls]
            messages.append(Message("assistant", (*said, *calls), f"m{number}"))
        else:
            answered = draw(st.lists(st.sampled_from(waiting), unique=True)) if waiting else []
            waiting = [call for call in waiting if call not in answered]
            results = [Result(call, draw(_WORDS)) for call in answered]
            messages.append(Message("user", (*results, *said), f"m{number}"))
    return messages


@pytest.mark.parametrize("dialect", CODECS)
@given(messages=conversations())
def test_any_conversation_passes_every_dialect(dialect: str, messages: list[Message]) -> None:
    natives = encoded(dialect, messages)
    again = decoded(dialect, natives)
    assert contents(again) == contents(messages)
    assert decoded(dialect, encoded(dialect, again)) == again


@pytest.mark.parametrize("source", ["claude-code", "gemini", "opencode", "pi"])
def test_both_apis_take_what_a_host_wrote(source: str) -> None:
    """Of transcripts in which each call was answered before the next message."""
    messages = [*decoded(source, recorded(source)), Message("user", (Text("Go on"),))]
    joined: list[Any] = []
    for native in encoded("anthropic", messages):
        if joined and joined[-1]["role"] == native["role"]:
            joined[-1]["content"] += native["content"]
        else:
            joined.append(native)
    tools = [{"name": "look_up", "input_schema": {"type": "object"}}]
    checked({"model": "claude-x", "max_tokens": 9, "messages": joined, "tools": tools})
    check_chat({"model": "gpt-x", "messages": encoded("openai", messages)})


@pytest.mark.parametrize("host", [name for name in CODECS if name not in ("anthropic", "openai")])
@pytest.mark.parametrize(
    "odd", [None, 3, [], "text", {"type": "from-tomorrow"}, {"message": 3, "uuid": "u", "type": "user"}]
)
def test_a_line_that_is_no_message_decodes_to_nothing(host: str, odd: object) -> None:
    assert list(CODECS[host].decode(odd)) == []


def test_what_hosts_add_by_themselves_is_left_out() -> None:
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Look there"}}
    own = [
        ("claude-code", {**line, "isSidechain": True}),
        ("claude-code", {**line, "isMeta": True}),
        ("claude-code", {**line, "message": {"role": "user", "content": "<command-name>/compact</command-name>"}}),
        ("claude-code", {**line, "message": {"role": "user", "content": "<local-command-stdout>Compacted"}}),
        ("gemini", {"type": "user", "id": "u", "content": [{"text": "<session_context>\nwhere"}]}),
        ("codex", {"type": "response_item", "timestamp": "t", "payload": {"type": "message", "role": "user", "content": [SAID]}}),
        ("opencode", {"info": {"id": "m", "role": "user"}, "parts": [{"type": "text", "text": "x", "synthetic": True}]}),
    ]  # fmt: skip
    assert len(decoded("claude-code", [line])) == 1
    assert [message for host, native in own for message in decoded(host, [native])] == []


CONTENT: list[ContentBlock] = [
    ThinkingBlock(type="thinking", thinking="hm", signature="x"),
    TextBlock(type="text", text="Looking."),
    ToolUseBlock(type="tool_use", id="c1", name="look_up", input={"order": "W-1"}),
]
USED = Usage(input_tokens=1, output_tokens=1)
CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": "W-1"}'}}
SPELLINGS: dict[str, dict[str, Any]] = {
    "the SDK's message": {
        "said": AnthropicMessage(
            id="m", type="message", role="assistant", model="c", content=CONTENT, stop_reason="tool_use", usage=USED
        ),
        "results": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "total=1"}]}],
    },
    "the SDK's blocks": {"said": CONTENT, "results": [{"tool_use_id": "c1", "content": "total=1"}]},
    "JSON": {"said": [block.model_dump() for block in CONTENT], "results": [{"id": "c1", "text": "total=1"}]},
    "a chat completion": {
        "said": ChatCompletionMessage.model_validate(
            {"role": "assistant", "content": "Looking.", "tool_calls": [CALL]}
        ),
        "results": [{"role": "tool", "tool_call_id": "c1", "content": "total=1"}],
    },
    "an item": {
        "said": "Looking.",
        "calls": [{"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"order": "W-1"}'}],
        "results": [{"type": "function_call_output", "call_id": "c1", "output": "total=1"}],
    },
    "a block": {
        "said": "Looking.",
        "calls": [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {"order": "W-1"}}],
        "results": [Result("c1", "total=1")],
    },
    "our own": {
        "said": "Looking.",
        "calls": [{"name": "look_up", "args": {"order": "W-1"}}],
        "results": [{"text": "total=1"}],
    },
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_step_is_one_message_in_whatever_spelling_it_comes(spelling: str) -> None:
    items = (Text("Looking."), Call("look_up", {"order": "W-1"}, "c1"), Result("c1", "total=1"))
    assert read_step(**SPELLINGS[spelling]) == Message("assistant", items)


@pytest.mark.parametrize("odd", [[], 3, b"x", ["x"]])
def test_what_is_no_message_is_refused(odd: object) -> None:
    with pytest.raises(InputError, match="an assistant's message is"):
        read_messages(odd)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"calls": [{"name": 3, "args": {}}]}, "a call is"),
        ({"calls": [{"name": "x", "args": {}, "id": True}]}, "id of a call"),
        ({"results": [{"id": "c1", "text": 3}]}, "a result is"),
        ({"results": [{"id": "c1", "text": "x", "shown": 3}]}, "shorter form"),
    ],
)
def test_a_step_that_cannot_be_read_says_what_to_give(bad: dict[str, Any], error: str) -> None:
    with pytest.raises(InputError, match=error):
        read_step("Look.", **bad)


def test_a_result_of_another_step_is_refused_with_the_calls_there_are() -> None:
    with pytest.raises(RefError, match="c1, c2"):
        read_step("", [{"name": "a", "args": {}}, {"name": "b", "args": {}}], [{"id": "c9", "text": "x"}])
