"""Runs one hook: `python -m mcp_server.hooks HOST` reads the host's event from standard input and prints the answer, if there is one.

A short event ends it before anything is imported. Any other is handed to the store's helper; where there is none, the hook answers by itself, and starts one
when the answer is out. On any fault the host goes on with what it has: nothing is printed, and the exit code is 1, which hosts take as a hook that failed,
not as a veto.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32

from ctxfold.config import default_store, home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcp_server.hooks.events import Conversations


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
    from mcp_server.hooks.events import Conversations, answer_event

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


def main(arguments: list[str], event: bytes) -> str:
    """The answer to one event, made in this process; empty for none. Arguments and errors are those of `answer`."""
    return "" if is_short(event) else answer(arguments, event)


def respond(arguments: list[str], event: bytes) -> None:
    """Print the answer to one event, made by the helper where one runs. Arguments and errors are those of `answer`."""
    if is_short(event):
        return

    out, socket = sys.stdout.buffer, find_socket()
    made = None if socket is None else ask(socket, arguments, event)
    out.write(answer(arguments, event).encode("utf-8", "replace") if made is None else made)
    out.flush()
    if socket is not None and made is None:
        start(socket)


if __name__ == "__main__":
    respond(sys.argv[1:], sys.stdin.buffer.read())


TAKEN = b"+"
"""What the helper sends as it takes up an event; behind it come the answer's length in eight bytes and the answer."""
_TAKES, _ANSWERS = 5.0, 45.0
"""Seconds to wait for what it sends first, and then for the answer: a host gives a hook sixty."""
_LONGEST = 100
"""Bytes of a socket's path that every system takes."""
_OTHERS = 0o077


def find_socket() -> str | None:
    """Where the helper of the configured store and this installation listens; None where there can be none.

    There can be none without sockets in the file system (Windows), for a store that is no path, below a home whose path is too long for a socket's, and in a
    folder that others may enter.

    Raises:
        ReadOnlyStore: the folder of ctxfold's data cannot be made.
    """
    if os.name != "posix":
        return None
    store, folder = default_store(), home().absolute() / "helper"
    if "://" in store or store == ":memory:":
        return None
    named = crc32(f"{os.path.abspath(store)}\n{os.path.dirname(__file__)}\n{sys.prefix}".encode())
    path = f"{folder}/{named:08x}.sock"
    if len(os.fsencode(path)) > _LONGEST:
        return None
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    return path if found.st_uid == os.geteuid() and not found.st_mode & _OTHERS else None


def ask(path: str, arguments: list[str], event: bytes) -> bytes | None:
    """The helper's answer to an event; None where there is no helper, it is busy, or it did not answer whole."""
    import socket

    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_TAKES)
            line.connect(path)
            line.sendall(" ".join(arguments).encode() + b"\n" + event)
            line.shutdown(socket.SHUT_WR)
            if line.recv(1) != TAKEN:
                return None
            line.settimeout(_ANSWERS)
            got = b"".join(iter(lambda: line.recv(1 << 16), b""))
    except OSError:
        return None
    size, answer = got[:8], got[8:]
    return answer if len(size) == 8 and int.from_bytes(size, "big") == len(answer) else None


def start(path: str) -> None:
    """Start the helper, which outlives us; where it runs already, or starts now for another hook, the new one ends at once. Raises OSError: no process can be started."""
    from subprocess import DEVNULL, Popen

    from ctxfold.config import store_environment

    command = [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "mcp_server.hooks.helper", path]
    environment = store_environment()
    Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True, env=environment)
