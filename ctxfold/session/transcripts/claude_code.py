"""Claude Code's transcript: one JSON object a line, of which `user` and `assistant` hold blocks as the Messages API spells them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxfold.session.transcripts.blocks import join_text
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, HostCompacted, ToolAnswered, UserSaid

__all__ = ["read_claude_code"]


def read_claude_code(line: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of one line; none where it is not part of the conversation (a subagent's, a reminder of the host's, a kind unknown here)."""
    message, name = line.get("message"), line.get("uuid")
    if not isinstance(message, Mapping) or not isinstance(name, str) or line.get("isSidechain") or line.get("isMeta"):
        return ()
    match line.get("type"):
        case "user" if line.get("isCompactSummary"):
            return (HostCompacted(name, join_text(message.get("content"))),)
        case "user" if _is_own_command(message.get("content")):
            return ()
        case "user":
            return tuple(_of_user(name, message.get("content")))
        case "assistant":
            return tuple(_of_assistant(name, message.get("content")))
        case _:
            return ()


def _is_own_command(content: object) -> bool:
    """Whether a message is a command to the host itself, or what it printed: both stand in its markup."""
    return isinstance(content, str) and content.startswith(("<command-name>", "<local-command-"))


def _of_user(name: str, content: object) -> Iterator[Entry]:
    if isinstance(content, str):
        yield UserSaid(name, content)
        return
    for at, block in enumerate(_blocks(content)):
        match block:
            case {"type": "text", "text": str(text)}:
                yield UserSaid(f"{name}.{at}" if at else name, text)
            case {"type": "tool_result", "tool_use_id": str(call)}:
                yield ToolAnswered(call, join_text(block.get("content")))
            case _:
                pass  # another part of the host's, not of the conversation


def _of_assistant(name: str, content: object) -> Iterator[Entry]:
    for at, block in enumerate(_blocks(content)):
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                yield AssistantSaid(f"{name}.{at}" if at else name, text)
            case {"type": "tool_use", "id": str(call), "name": str(tool)}:
                yield Called(call, tool, block.get("input", {}))
            case _:
                pass  # another part of the host's, not of the conversation


def _blocks(content: object) -> list[Mapping[str, Any]]:
    return [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
