"""Answers one event of a host: with nothing, with what was made for it before, or by doing the work, each without importing what the others need."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcp_server.hooks.conversations import Conversations

__all__ = ["answer", "is_short", "prepare"]

SHORT = 8_000
"""Bytes of an event after a tool call: a shorter one holds no result that is worth bounding."""
_KEY = b'"hook_event_name"'
_ANSWERED, _ASKED = (b"PostToolUse", b"AfterTool"), (b"UserPromptSubmit", b"BeforeAgent")
"""What hosts call a tool's answer and a prompt."""
_COMPACTS = b"PreCompact"
_DUE = (b'"compact"', b'"prompt_cache_likely_expired"')
"""What a start says that there is something to do at."""


def is_short(event: bytes) -> bool:
    """Whether an event has nothing to be answered and nothing to be recorded, as most have."""
    name = _name(event)
    if name in _ANSWERED:
        return len(event) < SHORT
    if name == b"SessionStart":
        return not any(word in event for word in _DUE)
    if name in _ASKED:
        from ctxfold.session.handover import is_waiting

        return not is_waiting()
    return False


def answer(arguments: list[str], event: bytes, kept: Conversations | None = None) -> str:
    """The answer to one event that is not short, empty for none. What it replaces is committed first. Arguments and errors are those of `answer_event`.

    `kept`: of a caller that calls `prepare` too; None opens this one conversation for the length of the call, which then does both.
    """
    if _name(event) == b"SessionStart" and _DUE[0] in event:
        made = _part(arguments, event)
        if made is not None:
            return made
    from mcp_server.hooks.conversations import Conversations
    from mcp_server.hooks.events import answer_event

    if kept is not None:
        return answer_event(arguments, event, kept)
    with Conversations() as opened:
        made = answer_event(arguments, event, opened)
        prepare(arguments, event, opened)
        return made


def prepare(arguments: list[str], event: bytes, kept: Conversations) -> None:
    """Make what the events after this one will be answered with, where that can be told: after a compaction, which is about to come, the parts of the view."""
    if _name(event) == _COMPACTS:
        from mcp_server.hooks.events import prepare_parts

        prepare_parts(arguments[0], event, kept)


def _part(arguments: list[str], event: bytes) -> str | None:
    """The answer of this part that was made before the compaction; None where there is none, or no such event."""
    import json

    from ctxfold.session.handover import take_part
    from ctxfold.session.transcripts import HOSTS, name_conversation

    try:
        named = str(json.loads(event)["session_id"])
    except (ValueError, KeyError, TypeError):
        return None
    at = int(arguments[1].partition("/")[0]) if len(arguments) > 1 else 1
    return take_part(name_conversation(arguments[0], named), at) if arguments[0] in HOSTS else None


def _name(event: bytes) -> bytes:
    """The name of an event, which hosts write before whatever a tool may say."""
    found = event[event.find(_KEY) + len(_KEY) :][:64].split(b'"') if _KEY in event else []
    return found[1] if len(found) > 1 else b""
