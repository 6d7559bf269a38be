"""Runs Python's documentation server on loopback for as long as a block lasts."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ctxfold.config.children import child_environment
from ctxfold.errors import PageUnreachable

__all__ = ["pydoc_site"]

_READY = re.compile(r"(http://\S+)")
_SECONDS = 30.0


@contextmanager
def pydoc_site() -> Iterator[str]:
    """Start the server and give its address; it ends with the block, or with this process: it quits when its input closes.

    Raises:
        PageUnreachable: this Python's server does not start.
    """
    command = [sys.executable, "-m", "pydoc", "-n", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=child_environment(),
    ) as server:
        said: queue.Queue[str | None] = queue.Queue()
        listener = threading.Thread(target=_listen, args=(server, said), daemon=True)
        listener.start()
        try:
            yield _address(said)
        finally:
            server.terminate()
            listener.join()


def _address(said: queue.Queue[str | None]) -> str:
    """The address the server prints once it listens."""
    while True:
        try:
            line = said.get(timeout=_SECONDS)
        except queue.Empty:
            line = None
        if line is None:
            raise PageUnreachable(
                f"Python's documentation server does not start; try `{sys.executable} -m pydoc -p 0` to see why"
            )
        ready = _READY.search(line)
        if ready is not None:
            return ready.group(1)


def _listen(server: subprocess.Popen[str], said: queue.Queue[str | None]) -> None:
    """Pass on what the server prints, line by line, to its end."""
    for line in server.stdout or ():
        said.put(line)
    said.put(None)
