"""Codex's rollout: one JSON object a line, `response_item` for what the model was sent and said, `event_msg` for what the user typed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ctxfold.session.transcripts.blocks import join_text
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, HostCompacted, ToolAnswered, UserSaid

__all__ = ["read_codex"]


def read_codex(line: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of one line. A user message among the response items may be the host's own context, so the user's words come from the events."""
    payload, when = line.get("payload"), line.get("timestamp")
    if not isinstance(payload, Mapping) or not isinstance(when, str):
        return ()
    match line.get("type"):
        case "response_item":
            return _of_item(payload, when)
        case "event_msg":
            return _of_event(payload, when)
        case "compacted":
            return (HostCompacted(when, str(payload.get("message", ""))),)
        case _:
            return ()


def _of_item(item: Mapping[str, Any], when: str) -> tuple[Entry, ...]:
    match item:
        case {"type": "message", "role": "assistant", "content": list(blocks)}:
            return (AssistantSaid(str(item.get("id") or when), join_text(blocks)),)
        case {"type": "function_call", "call_id": str(call), "name": str(name)}:
            return (Called(call, name, _arguments(item.get("arguments"))),)
        case {"type": "custom_tool_call", "call_id": str(call), "name": str(name)}:
            return (Called(call, name, {"input": item.get("input")}),)
        case {"type": "local_shell_call", "call_id": str(call)}:
            return (Called(call, "local_shell", item.get("action")),)
        case {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(call)}:
            return (ToolAnswered(call, _output(item.get("output"))),)
        case _:
            return ()


def _of_event(event: Mapping[str, Any], when: str) -> tuple[Entry, ...]:
    match event:
        case {"type": "user_message", "message": str(text)}:
            return (UserSaid(when, text),)
        case {"type": "item_completed", "item": {"type": "UserMessage", "id": str(name), "content": list(blocks)}}:
            return (UserSaid(name, join_text(blocks)),)
        case _:
            return ()


def _arguments(text: object) -> Any:
    """A call's arguments, which the API spells as JSON in a string; the string where it is none."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"arguments": text}


def _output(value: object) -> str:
    if isinstance(value, list):
        return join_text(value)
    if isinstance(value, Mapping):
        return str(value.get("content", json.dumps(value, ensure_ascii=False)))
    return str(value)
