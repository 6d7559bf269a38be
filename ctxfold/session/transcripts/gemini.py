"""gemini-cli's chat file: one JSON object a line, where a message is written again, under its id, when its calls have been answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ctxfold.session.transcripts.blocks import join_text
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, ToolAnswered, UserSaid

__all__ = ["read_gemini"]


def read_gemini(line: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of one line."""
    match line:
        case {"type": "user", "id": str(name), "content": content}:
            return (UserSaid(name, join_text(content)),)
        case {"type": "gemini", "id": str(name), "content": content}:
            text = join_text(content)
            said = (AssistantSaid(name, text),) if text.strip() else ()
            return (*said, *_of_calls(line.get("toolCalls")))
        case _:
            return ()


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
