"""Runs one hook: `python -m mcp_server.hooks HOST` reads the host's event from standard input and prints the answer, if there is one.

A short event ends it before anything is imported. Any other is handed to the store's helper; where there is none, the hook answers by itself, and starts one
when the answer is out. On any fault the host goes on with what it has: nothing is printed, and the exit code is 1, which hosts take as a hook that failed,
not as a veto.
"""

from __future__ import annotations

import sys

from mcp_server.hooks.answer import answer, is_short

__all__ = ["main", "respond"]


def main(arguments: list[str], event: bytes) -> str:
    """The answer to one event, made in this process; empty for none. Arguments and errors are those of `answer`."""
    return "" if is_short(event) else answer(arguments, event)


def respond(arguments: list[str], event: bytes) -> None:
    """Print the answer to one event, made by the helper where one runs. Arguments and errors are those of `answer`."""
    if is_short(event):
        return
    from mcp_server.hooks.client import ask, find_socket, start

    out, socket = sys.stdout.buffer, find_socket()
    made = None if socket is None else ask(socket, arguments, event)
    out.write(answer(arguments, event).encode("utf-8", "replace") if made is None else made)
    out.flush()
    if socket is not None and made is None:
        start(socket)


if __name__ == "__main__":
    respond(sys.argv[1:], sys.stdin.buffer.read())
