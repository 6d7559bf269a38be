"""Writes commands as a person can type them where this process was started."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

__all__ = ["typed"]

_NAME = "ctxfold"


def typed(*arguments: str) -> str:
    """A command of ctxfold with these arguments: by its name where the shell finds this very program, else by the path it was started by."""
    return shlex.join([*_program(), *arguments])


def _program() -> list[str]:
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return [sys.executable, "-m", _NAME]
    found = shutil.which(_NAME)
    if not started.is_file() or (found is not None and Path(found).resolve() == started.resolve()):
        return [_NAME]
    near = os.path.relpath(started)
    if near.startswith(os.pardir):
        return [str(started.absolute())]
    return [near if os.sep in near else os.path.join(os.curdir, near)]
