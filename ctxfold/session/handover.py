"""Marks the sessions whose host is to be given something at its next prompt: a small file each, so that a hook that has nothing to give ends at once."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ctxfold.config import home

__all__ = ["Due", "hand_over", "is_waiting", "take"]

Due = Literal["view", "restored"]
"""What is to be given: the session's view, or the lines that were put back in it, which stand in that too."""

_FOLDER = "handover"


def hand_over(session: str, due: Due) -> None:
    """Let the next prompt of a session's host be given something; a view that waits already goes before lines."""
    _folder().mkdir(mode=0o700, exist_ok=True)
    if due == "view" or not (_folder() / session).exists():
        (_folder() / session).write_text(due)


def is_waiting() -> bool:
    """Whether any session is marked."""
    return _folder().is_dir() and any(_folder().iterdir())


def take(session: str) -> Due | None:
    """What is to be given; from now on nothing is. Of two hooks at one time one is told."""
    try:
        due = (_folder() / session).read_text()
        (_folder() / session).unlink()
    except FileNotFoundError:
        return None
    return "view" if due == "view" else "restored"


def _folder() -> Path:
    return home() / _FOLDER
