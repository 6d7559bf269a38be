"""Runs one hook: `python -m mcp_server.hooks HOST` reads the host's event from standard input and prints the answer, if there is one.

A short result, the common case, ends it before anything is imported, and so does a prompt while nothing is to be given back. On any fault the host goes on with what it has: nothing is printed, and the exit code
is 1, which hosts take as a hook that failed, not as a veto.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

SHORT = 8_000
"""Bytes of an event after a tool call: a shorter one holds no result that is worth bounding."""
_KEY = b'"hook_event_name"'
_ANSWERED, _ASKED = (b"PostToolUse", b"AfterTool"), (b"UserPromptSubmit", b"BeforeAgent")
"""What hosts call a tool's answer and a prompt."""
_DUE = (b'"compact"', b'"prompt_cache_likely_expired"')
"""What a start says that there is something to do at."""


def main(arguments: list[str], event: bytes) -> str:
    """The answer to one event, empty for none.

    Args:
        arguments: the host's name, and where a hook runs several times its part, `1/3`.
        event: the JSON that the host wrote.
    """
    name = _name(event)
    if name in _ANSWERED and len(event) < SHORT:
        return ""
    if name == b"SessionStart" and not any(word in event for word in _DUE):
        return ""
    if name == b"SessionStart" and _DUE[0] in event:
        made = _part(arguments, event)
        if made is not None:
            return made
    if name in _ASKED:
        from ctxfold.session.handover import is_waiting

        if not is_waiting():
            return ""
    from mcp_server.hooks.events import answer_event

    return answer_event(arguments, event)


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


if __name__ == "__main__":
    sys.stdout.buffer.write(main(sys.argv[1:], sys.stdin.buffer.read()).encode("utf-8", "replace"))
