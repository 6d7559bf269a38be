"""The command line, one command a file; commands of all packages are found through the entry points `ctxfold.commands`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `ctxfold` with these arguments, those of the process if None, and exit: 0 done, 1 not achieved, 2 usage, 3 environment, 130 interrupted."""
    try:
        from ctxfold.cli.root import root
        from ctxfold.cli.run import run

        code = run(root, arguments)
    except KeyboardInterrupt:  # pressed before a command had begun
        code = 130
    sys.exit(code)
