"""What each API and each host writes is read as the one form of a message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from anthropic.types import ContentBlock, TextBlock, ThinkingBlock, ToolUseBlock, Usage
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletionMessage

from ctxfold.errors import InputError, RefError
from ctxfold.messages import Call, Item, Message, Result, Text
from ctxfold.messages.apis import read_messages
from ctxfold.messages.hosts import HOSTS
from ctxfold.session.record import read_step

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


READ = {
    "anthropic": [
        "user | List the rows",
        "user | See | [image, 586 characters]",
        "assistant | (silent) | Looking. | c1=ls({})",
        "user | c1: Looking.\n[image, 586 characters] | Go on",
        "assistant | [server_tool_use, 74 characters]",
    ],
    "openai": [
        "system | Be brief",
        "user | Looking. | [image_url, 53 characters]",
        'assistant | c1=ls({"a": 1}) | c2=ls("not json")',
        "user | c1: one",
        "user | c2: two",
        "assistant | f1=ls({})",
        "user | f1: three",
        "assistant | (silent)",
        "assistant | Done.",
    ],
    "claude-code": [
        "user | u1* | Summary",
        "assistant | a1 | (silent)",
    ],
    "codex": [
        "user | t1* | Summary",
        'assistant | t2 | c1=apply_patch("*** Begin")',
        'assistant | t3 | c2=local_shell({"command": ["ls"]})',
        "user | t4 | c1: ok",
        "assistant | t5 | (silent)",
        "user | t6 | Go on",
    ],
    "gemini": [
        "user | 6576933a5b305e3efff579cd* | <scratchpad/><state_snapshot>Rows.</state_snapshot>",
        "user | u2 | c: no",
        "user | u3 | See | [inlineData, 32 characters]",
        "assistant | g1 | c9=ls({})",
    ],
    "opencode": [
        "assistant | m1* | Rows.",
        "assistant | m2 | (silent) | c1=ls({}) | c2=ls({}) | Both. | c1: no",
    ],
    "pi": [
        'assistant | p1 | p1=bash({"command": "ls"}) | p1: a',
        "user | p2 | [image, 33 characters]",
    ],
}
"""Each message of these: its role, its id with a star for a summary, its items."""


def decoded(dialect: str, natives: Sequence[Any]) -> list[Message]:
    if dialect in HOSTS:
        return [message for native in natives for message in HOSTS[dialect].decode(native)]
    return [message for native in natives for message in read_messages(native)]


def say(item: Item) -> str:
    match item:
        case Call(name, args, id):
            return f"{id}={name}({json.dumps(args)})"
        case Result(id, text):
            return f"{id}: {text}"
        case _:
            return item.text or "(silent)"


@pytest.mark.parametrize("dialect", NATIVES)
def test_every_message_of_a_dialect_is_read(dialect: str) -> None:
    read = decoded(dialect, NATIVES[dialect])
    lines = [
        " | ".join(filter(None, [each.role, each.id + "*" * each.compacted, *map(say, each.items)])) for each in read
    ]
    assert lines == READ[dialect]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "odd", [None, 3, [], "text", {"type": "from-tomorrow"}, {"message": 3, "uuid": "u", "type": "user"}]
)
def test_a_line_that_is_no_message_decodes_to_nothing(host: str, odd: object) -> None:
    assert list(HOSTS[host].decode(odd)) == []


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
