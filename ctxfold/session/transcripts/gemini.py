"""gemini-cli's chat file: one JSON object a line, where a message is written again, under its id, when its calls have been answered, and `$set` replaces all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ctxfold.session.transcripts.blocks import join_text
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, HostCompacted, ToolAnswered, UserSaid

__all__ = ["read_gemini"]

_SNAPSHOT = "<state_snapshot>"
"""What a summary holds that the client put in place of all before."""
_OWN = ("<session_context>", "<hook_context>")
"""How a message begins that the client adds by itself."""


def read_gemini(line: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of one line."""
    match line:
        case {"type": "user", "id": str(name), "content": content}:
            return tuple(_of_user(name, content))
        case {"type": "gemini", "id": str(name), "content": content}:
            text = join_text(content)
            said = (AssistantSaid(name, text),) if text.strip() else ()
            return (*said, *_of_calls(line.get("toolCalls")))
        case {"$set": {"messages": list(messages)}}:
            return tuple(entry for each in messages if isinstance(each, Mapping) for entry in _of_rewritten(each))
        case _:
            return ()


def _of_user(name: str, content: object) -> Iterator[Entry]:
    """The user's words; none where a message hands a call's result to the model, or says where the client runs."""
    text = _words(content)
    if text.strip() and not text.startswith(_OWN):
        yield UserSaid(name, text)


def _of_rewritten(message: Mapping[str, Any]) -> Iterator[Entry]:
    """Of a history that takes the place of the one before, the summary: the rest was written when it was said."""
    text = _words(message.get("content"))
    if message.get("type") == "user" and _SNAPSHOT in text:
        yield HostCompacted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24], text)


def _words(content: object) -> str:
    """The text of a content without its calls and their results."""
    if isinstance(content, list):
        content = [each for each in content if isinstance(each, Mapping) and "text" in each]
    return join_text(content)


def _of_calls(calls: object) -> Iterator[Entry]:
    found = [each for each in calls if isinstance(each, Mapping)] if isinstance(calls, list) else []
    for each in found:
        match each:
            case {"id": str(call), "name": str(tool)}:
                yield Called(call, tool, each.get("args", {}))
            case _:
                pass  # another part of the host's, not of the conversation
    for each in found:
        match each:
            case {"id": str(call), "result": list(parts)}:
                yield ToolAnswered(call, "\n".join(_part(part) for part in parts))
            case _:
                pass  # another part of the host's, not of the conversation


def _part(part: object) -> str:
    """The text of one part of a result: a function response's output or error, else the part as JSON."""
    match part:
        case {"functionResponse": {"response": {"output": str(text)}}} | {
            "functionResponse": {"response": {"error": str(text)}}
        }:
            return text
        case {"text": str(text)}:
            return text
        case _:
            return json.dumps(part, ensure_ascii=False)
