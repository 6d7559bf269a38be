"""Runs one hook: `python -m mcp_server.hooks HOST` reads the host's event from standard input and prints the answer, if there is one.

A short result, the common case, ends it before anything is imported, and so does a prompt while nothing is to be given back. On any fault the host goes on with what it has: nothing is printed, and the exit code
is 1, which hosts take as a hook that failed, not as a veto.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

SHORT = 8_000
"""Bytes of an event after a tool call: a shorter one holds no result that is worth bounding."""


def main(arguments: list[str], event: bytes) -> str:
    """The answer to one event, empty for none.

    Args:
        arguments: the host's name, and where a hook runs several times its part, `1/3`.
        event: the JSON that the host wrote.
    """
    if len(event) < SHORT and b'"PostToolUse"' in event:
        return ""
    if b'"UserPromptSubmit"' in event:
        from ctxfold.session.handover import is_waiting

        if not is_waiting():
            return ""
    from mcp_server.hooks.events import answer_event

    return answer_event(arguments, event)


if __name__ == "__main__":
    sys.stdout.buffer.write(main(sys.argv[1:], sys.stdin.buffer.read()).encode("utf-8", "replace"))
