"""opencode's export: one JSON document with all messages, as `opencode export SESSION` prints it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxfold.session.transcripts.blocks import join_text
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, HostCompacted, ToolAnswered, UserSaid

__all__ = ["read_opencode"]


def read_opencode(document: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of an export."""
    messages = document.get("messages")
    found = [each for each in messages if isinstance(each, Mapping)] if isinstance(messages, list) else []
    return tuple(entry for message in found for entry in _of_message(message))


def _of_message(message: Mapping[str, Any]) -> Iterator[Entry]:
    match message:
        case {"info": {"id": str(name), "summary": True}, "parts": list(parts)}:
            yield HostCompacted(
                name, join_text([each for each in parts if isinstance(each, Mapping) and "text" in each])
            )
        case {"info": {"role": str(role)}, "parts": list(parts)}:
            answers: list[Entry] = []
            for part in parts:
                match part:
                    case {"type": "text", "id": str(name), "text": str(text)} if not part.get("synthetic"):
                        yield UserSaid(name, text) if role == "user" else AssistantSaid(name, text)
                    case {"type": "tool", "callID": str(call), "tool": str(tool), "state": Mapping() as state}:
                        yield Called(call, tool, state.get("input", {}))
                        if "output" in state or "error" in state:
                            answers.append(ToolAnswered(call, str(state.get("output", state.get("error")))))
                    case _:
                        pass  # another part of the host's, not of the conversation
            yield from answers
        case _:
            pass  # another part of the host's, not of the conversation
