"""The helper: a process that stays resident for a store, holds its conversations open, and answers the events of hooks one after the other.

    python -m mcp_server.hooks.helper SOCKET

It ends after ten idle minutes, and when its socket or a file of its own code is no longer the one it began with.
Where it cannot answer it hangs up, and the hook does the work itself.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ctxfold.errors import CtxfoldError
from mcp_server.hooks.__main__ import TAKEN, answer, prepare
from mcp_server.hooks.events import Conversations

__all__ = ["serve"]

IDLE = 600.0
"""Seconds without an event after which it ends."""
_LOOKS = 5.0
"""Seconds between two looks at whether it should end."""
_SENDS = 5.0
"""Seconds that a hook may take to send its event, or to take the answer, while others wait."""
_PACKAGES = ("ctxfold", "mcp_server")


def serve(path: str, idle: float = IDLE) -> None:
    """Answer events at a socket, in a folder of ours alone, until `idle` seconds pass without one; end at once where another process does.

    Raises OSError: the socket cannot be made.
    """
    with _alone(path) as alone:
        if not alone:
            return
        code = _code()
        with _listening(path) as line, Conversations() as kept:
            mine, due = _identify(path), time.monotonic() + idle
            line.settimeout(min(_LOOKS, idle))
            while time.monotonic() < due and _identify(path) == mine:
                try:
                    hook, _ = line.accept()
                except TimeoutError:
                    continue
                with hook:
                    if any(_identify(name) != at for name, at in code.items()):
                        return
                    _answer(hook, kept)
                code = _code() | code
                due = time.monotonic() + idle


def _answer(hook: socket.socket, kept: Conversations) -> None:
    """Answer what one hook sends, or hang up."""
    try:
        hook.settimeout(_SENDS)
        told = b"".join(iter(lambda: hook.recv(1 << 16), b""))
        head, _, event = told.partition(b"\n")
        hook.sendall(TAKEN)
        arguments = head.decode().split(" ")
        made = answer(arguments, event, kept).encode("utf-8", "replace")
        hook.sendall(len(made).to_bytes(8, "big") + made)
        hook.close()
        prepare(arguments, event, kept)
    except (OSError, CtxfoldError, UnicodeDecodeError):
        pass  # the hook meets the same fault as it does the work itself, and says so to its host


@contextmanager
def _alone(path: str) -> Iterator[bool]:
    """Hold the lock that one helper of a store has, which ends with its process, and say in its file whose it is; whether we have it."""
    with open(os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600), "w") as lock:
        import fcntl

        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        lock.truncate()
        print(os.getpid(), file=lock, flush=True)
        yield True


@contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    """A socket that this user alone can connect to; where a helper was killed its own is still there."""
    if os.path.lexists(path):
        os.unlink(path)
    before = os.umask(0o177)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(path)
        os.umask(before)
        line.listen(16)
        mine = _identify(path)
        try:
            yield line
        finally:
            if _identify(path) == mine:
                os.unlink(path)


def _code() -> dict[str, tuple[int, int] | None]:
    """The files of ours that are loaded, as they are now."""
    named = [module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] in _PACKAGES]
    return {name: _identify(name) for name in named if name}


def _identify(path: str) -> tuple[int, int] | None:
    """Which file a path names, and when the file was made; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


if __name__ == "__main__":
    serve(sys.argv[1])
