"""Runs a server and writes a copy of every line it answers to a file: what a benchmark compares with what a host saw."""

from __future__ import annotations

import subprocess
import sys


def main() -> int:
    """`tee FILE COMMAND…`; ends with the server."""
    with (
        open(sys.argv[1], "ab", buffering=0) as copy,
        subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            copy.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        return process.wait()


if __name__ == "__main__":
    sys.exit(main())
