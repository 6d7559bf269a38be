"""Reads messages, calls and results in the forms of the providers' SDKs: their objects, or the JSON of their APIs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxfold.errors import InputError

__all__ = ["call_of", "message_of", "plain", "result_of"]

_HOW = "an assistant's message is a text, a list of content blocks, or a message with content and tool_calls; give one of these"


def plain(given: object) -> object:
    """An SDK's object as JSON would spell it; what is none stays as it is."""
    dump = getattr(given, "model_dump", None)
    return dump(mode="json") if callable(dump) else given


def message_of(given: object) -> tuple[str, list[object]]:
    """What an assistant's message says and what it calls; thinking in it is left behind. Raises InputError: it is no message."""
    message = plain(given)
    if isinstance(message, Mapping) and ("content" in message or "tool_calls" in message):
        text, calls = _content(message.get("content") or "")
        return text, [*calls, *(message.get("tool_calls") or ())]
    if not message:
        raise InputError(_HOW)
    return _content(message)


def call_of(given: object) -> object:
    """A call as `record_step` takes it, of a `tool_use` block, a `tool_calls` entry or a `function_call` item; anything else as it is."""
    call = plain(given)
    if not isinstance(call, Mapping):
        return call
    if isinstance(call.get("function"), Mapping):
        function = call["function"]
        return {"name": function.get("name"), "args": _arguments(function.get("arguments")), "id": call.get("id")}
    if call.get("type") == "function_call":
        return {"name": call.get("name"), "args": _arguments(call.get("arguments")), "id": call.get("call_id")}
    if "input" in call:
        return {"name": call.get("name"), "args": call["input"], "id": call.get("id")}
    return call


def result_of(given: object) -> object:
    """A result as `record_step` takes it, of a `tool_result` block, a `tool` message or a `function_call_output` item; anything else as it is."""
    result = plain(given)
    if not isinstance(result, Mapping):
        return result
    name = next((key for key in ("tool_use_id", "tool_call_id", "call_id") if key in result), None)
    if name is None or "text" in result:
        return result
    content = result.get("content", result.get("output"))
    return {"id": result[name], "text": _content("" if content is None else content)[0]}


def _content(content: object) -> tuple[str, list[object]]:
    """The texts and the calls of content blocks. Of what is neither text nor call, as a picture, its kind and size stand."""
    if isinstance(content, str):
        return content, []
    if not isinstance(content, Sequence):
        raise InputError(_HOW)
    texts, calls = list[str](), list[object]()
    for block in map(plain, content):
        if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
            raise InputError(_HOW)
        match block["type"]:
            case "text" | "output_text" | "input_text":
                texts.append(str(block.get("text", "")))
            case "tool_use" | "function_call":
                calls.append(block)
            case "thinking" | "redacted_thinking" | "reasoning":
                pass
            case kind:
                texts.append(f"[{kind}, {len(json.dumps(dict(block), default=str)):,} characters]")
    return "\n".join(texts), calls


def _arguments(given: object) -> Any:
    """The arguments of a call that an API spells as text; text that is no JSON stays text."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given or "{}")
    except ValueError:
        return given
