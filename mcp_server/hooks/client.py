"""Asks the helper that stays resident for a store to answer an event, and starts it."""

from __future__ import annotations

import os
import sys
from binascii import crc32

from ctxfold.config.environment import default_store, home

__all__ = ["TAKEN", "ask", "find_socket", "start"]

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

    from ctxfold.config.children import store_environment

    command = [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "mcp_server.hooks.helper", path]
    environment = store_environment()
    Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True, env=environment)
