"""Runs one hook: `python -m mcp_server.hooks HOST` reads the host's event from standard input and prints the answer.

A short event ends it before anything is imported. Any other goes to the store's helper. Without a helper the hook
answers by itself and then starts one. On any fault the host keeps its own result: nothing is printed, and the exit
code is 1, which hosts take as a failed hook, not as a veto.
"""

from __future__ import annotations

import sys

SHORT = 2_000
"""Bytes of an event after a tool call. A shorter one holds no result above `events.BUDGET`: a token has a byte."""
_KEY = b'"hook_event_name"'
_AFTER_TOOL = (b"PostToolUse", b"AfterTool")
_DUE_AT_START = (b'"compact"', b'"prompt_cache_likely_expired"')
"""Words of a session's start at which there is something to do."""


def is_short(event: bytes) -> bool:
    """Whether an event needs no answer and brings nothing to record, as most do."""
    name = _find_name(event)
    if name in _AFTER_TOOL:
        return len(event) < SHORT
    return name == b"SessionStart" and not any(word in event for word in _DUE_AT_START)


def respond(arguments: list[str], event: bytes) -> None:
    """Print the answer to one event. Arguments and errors are those of `answer_event`."""
    if is_short(event):
        return
    from mcp_server.hooks.helper import ask_helper, find_socket, start_helper

    socket = find_socket()
    answer = None if socket is None else ask_helper(socket, arguments, event)
    if answer is None:
        from mcp_server.hooks.events import Conversations, answer_event

        with Conversations() as conversations:
            answer = answer_event(arguments, event, conversations).encode("utf-8", "replace")
        if socket is not None:
            start_helper(socket)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()


def _find_name(event: bytes) -> bytes:
    """The name of an event. Hosts write it before whatever a tool may say."""
    parts = event[event.find(_KEY) + len(_KEY) :][:64].split(b'"') if _KEY in event else []
    return parts[1] if len(parts) > 1 else b""


if __name__ == "__main__":
    respond(sys.argv[1:], sys.stdin.buffer.read())
