"""The helper of hooks: a process that stays for a store, holds its conversations open, and answers hooks' events.

    python -m mcp_server.hooks.helper SOCKET

With it a long result costs .05 s, without it half a second. It ends after ten idle minutes, and when its socket or a
file of its own code was replaced. When it cannot answer it hangs up, and the hook does the work itself.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ctxfold.config import default_store, home, store_environment
from ctxfold.errors import CtxfoldError

if TYPE_CHECKING:
    from mcp_server.hooks.events import Conversations

TAKEN = b"+"
"""The helper's first byte to a hook. The answer's length in eight bytes and the answer follow."""
_TAKE_SECONDS, _ANSWER_SECONDS = 5.0, 45.0
"""How long a hook waits for that byte, then for the answer. A host gives a hook sixty seconds."""
_SEND_SECONDS = 5.0
"""How long a hook may take to send its event, or to take the answer, while others wait."""
IDLE_SECONDS = 600.0
"""Time without an event after which the helper ends."""
_LOOK_SECONDS = 5.0
"""Time between two looks at whether it should end."""
_MAX_PATH = 100
"""Bytes of a socket's path that every system takes."""
_OTHERS = 0o077
_PACKAGES = ("ctxfold", "mcp_server")

_FileId = tuple[int, int]
"""A file's inode and when it was written."""


def find_socket() -> str | None:
    """The path of the socket at which the helper of the configured store and this installation listens.

    None where a helper is impossible: on Windows, for a store other than a file, if the path is too long for a socket,
    and in a folder that other users may enter.

    Raises:
        ReadOnlyStore: the folder of ctxfold's data cannot be made.
    """
    if os.name != "posix":
        return None
    store, folder = default_store(), home().absolute() / "helper"
    if "://" in store or store == ":memory:":
        return None
    digest = crc32(f"{os.path.abspath(store)}\n{os.path.dirname(__file__)}\n{sys.prefix}".encode())
    path = f"{folder}/{digest:08x}.sock"
    if len(os.fsencode(path)) > _MAX_PATH:
        return None
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        return path if status.st_uid == os.geteuid() and not status.st_mode & _OTHERS else None
    return None


def ask_helper(path: str, arguments: list[str], event: bytes) -> bytes | None:
    """The helper's answer to an event; None without a helper, if it is busy, or if its answer broke off."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_TAKE_SECONDS)
            line.connect(path)
            line.sendall(" ".join(arguments).encode() + b"\n" + event)
            line.shutdown(socket.SHUT_WR)
            if line.recv(1) != TAKEN:
                return None
            line.settimeout(_ANSWER_SECONDS)
            received = _receive_all(line)
    except OSError:
        return None
    size, answer = received[:8], received[8:]
    return answer if len(size) == 8 and int.from_bytes(size, "big") == len(answer) else None


def start_helper(path: str) -> None:
    """Start the helper, which outlives this process. A second one for the same store ends at once.

    Its Python takes no module from the working directory. Raises OSError: no process can be started.
    """
    from subprocess import DEVNULL, Popen

    safe = "-I" if sys.flags.isolated else "-P"
    Popen(
        [sys.executable, safe, "-m", "mcp_server.hooks.helper", path],
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
        env=store_environment(),
    )


def serve(path: str, idle_seconds: float = IDLE_SECONDS) -> None:
    """Answer events at a socket until none came for `idle_seconds`. End at once if another process does so already.

    Raises OSError: the socket cannot be made.
    """
    from mcp_server.hooks.events import Conversations

    with _lock(path) as is_alone:
        if not is_alone:
            return
        code = _list_code()
        with _listen(path) as line, Conversations() as conversations:
            own, deadline = _identify(path), time.monotonic() + idle_seconds
            line.settimeout(min(_LOOK_SECONDS, idle_seconds))
            while time.monotonic() < deadline and _identify(path) == own:
                try:
                    hook, _ = line.accept()
                except TimeoutError:
                    continue
                with hook:
                    if any(_identify(name) != identity for name, identity in code.items()):
                        return
                    _answer_hook(hook, conversations)
                code = _list_code() | code
                deadline = time.monotonic() + idle_seconds


def _answer_hook(hook: socket.socket, conversations: Conversations) -> None:
    """Answer the event of one hook, or hang up."""
    from mcp_server.hooks.events import answer_event

    # A hook meets the same fault when it does the work itself, and reports it to its host.
    with suppress(OSError, CtxfoldError, UnicodeDecodeError):
        hook.settimeout(_SEND_SECONDS)
        head, _, event = _receive_all(hook).partition(b"\n")
        hook.sendall(TAKEN)
        answer = answer_event(head.decode().split(" "), event, conversations).encode("utf-8", "replace")
        hook.sendall(len(answer).to_bytes(8, "big") + answer)


def _receive_all(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(1 << 16), b""))


@contextmanager
def _lock(path: str) -> Iterator[bool]:
    """Hold the lock of a store's helper for the block, with our process id in its file. Yields whether we have it."""
    import fcntl

    with open(os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        lock.truncate()
        print(os.getpid(), file=lock, flush=True)
        yield True


@contextmanager
def _listen(path: str) -> Iterator[socket.socket]:
    """Listen at a socket that only this user can connect to. It replaces one that a killed helper left."""
    if os.path.lexists(path):
        os.unlink(path)
    before = os.umask(0o177)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(path)
        os.umask(before)
        line.listen(16)
        own = _identify(path)
        try:
            yield line
        finally:
            if _identify(path) == own:
                os.unlink(path)


def _list_code() -> dict[str, _FileId | None]:
    """The files of our own code that are loaded, as they are now."""
    paths = [module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] in _PACKAGES]
    return {path: _identify(path) for path in paths if path}


def _identify(path: str) -> _FileId | None:
    with suppress(OSError):
        status = os.stat(path)
        return status.st_ino, status.st_mtime_ns
    return None


if __name__ == "__main__":
    serve(sys.argv[1])
