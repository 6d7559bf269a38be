"""Takes standard input and output for the protocol, so that no print of a library gets into it."""

from __future__ import annotations

import os
from typing import BinaryIO, NamedTuple

__all__ = ["Pipes", "claim_pipes"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Pipes(NamedTuple):
    """The host's two pipes, on descriptors that nothing else in the process knows."""

    reader: BinaryIO
    writer: BinaryIO


def claim_pipes() -> Pipes:
    """Take stdin and stdout for the protocol: from here on standard input is empty and standard output is stderr.

    Nothing is flushed first: what was printed before but still waits in a buffer then goes to stderr as well.

    Raises:
        OSError: a standard stream is closed, so there is no host to talk to.
    """
    pipes = Pipes(os.fdopen(os.dup(_STDIN), "rb"), os.fdopen(os.dup(_STDOUT), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _STDIN)
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # stderr is closed
        os.dup2(nothing, _STDOUT)
    os.close(nothing)
    return pipes
