"""pi's session file: one JSON object a line, of which `message` and `compaction` are part of the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxfold.session.transcripts.blocks import join_text
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, HostCompacted, ToolAnswered, UserSaid

__all__ = ["read_pi"]


def read_pi(line: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of one line, in file order: where the user went back in the tree, what was left stands before what came after."""
    match line:
        case {"type": "message", "id": str(name), "message": Mapping() as message}:
            return tuple(_of_message(name, message))
        case {"type": "compaction", "id": str(name), "summary": str(summary)}:
            return (HostCompacted(name, summary),)
        case _:
            return ()


def _of_message(name: str, message: Mapping[str, Any]) -> Iterator[Entry]:
    content = message.get("content")
    match message:
        case {"role": "user"}:
            yield UserSaid(name, join_text(content))
        case {"role": "toolResult", "toolCallId": str(call)}:
            yield ToolAnswered(call, join_text(content))
        case {"role": "bashExecution", "command": command, "output": output}:
            yield Called(name, "bash", {"command": command})
            yield ToolAnswered(name, str(output))
        case {"role": "assistant", "content": list(blocks)}:
            if text := join_text([each for each in blocks if isinstance(each, Mapping) and each.get("type") == "text"]):
                yield AssistantSaid(name, text)
            for each in blocks:
                match each:
                    case {"type": "toolCall", "id": str(call), "name": str(tool)}:
                        yield Called(call, tool, each.get("arguments", {}))
                    case _:
                        pass  # another part of the host's, not of the conversation
        case _:
            pass  # another part of the host's, not of the conversation
