"""The process's standard streams, taken for the protocol. It reads and writes nothing itself.

A host reads our stdout as JSON-RPC, and one stray `print` breaks the connection. The SDK moves the descriptors away while it serves;
this does so before anything heavy is imported and never gives them back, so prints at import, at exit and from children land on stderr too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["Wire", "claim"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Wire:
    """The host's two pipes, on descriptors that nothing else in the process knows."""

    reader: BinaryIO
    writer: BinaryIO


def claim() -> Wire:
    """Take stdin and stdout for the protocol: from here on standard input is empty and standard output is stderr.

    Nothing is flushed first: what was printed before but still waits in a buffer then goes to stderr as well.

    Raises:
        OSError: a standard stream is closed, so there is no host to talk to.
    """
    reader = os.fdopen(os.dup(_STDIN), "rb")
    writer = os.fdopen(os.dup(_STDOUT), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _STDIN)
    os.dup2(_STDERR if _is_open(_STDERR) else nothing, _STDOUT)
    os.close(nothing)
    return Wire(reader, writer)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
