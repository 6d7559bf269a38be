"""Marks the sessions whose host is to be given something at its next prompt: an empty file each, so that a hook that has nothing to give ends at once."""

from __future__ import annotations

from pathlib import Path

from ctxfold.config import home

__all__ = ["hand_over", "is_waiting", "take"]

_FOLDER = "handover"


def hand_over(session: str) -> None:
    """Let the next prompt of a session's host be given what was put back in it."""
    _folder().mkdir(mode=0o700, exist_ok=True)
    (_folder() / session).touch(mode=0o600)


def is_waiting() -> bool:
    """Whether any session is marked."""
    return _folder().is_dir() and any(_folder().iterdir())


def take(session: str) -> bool:
    """Whether a session is marked; from now on it no longer is. Of two hooks at one time one is told so."""
    try:
        (_folder() / session).unlink()
    except FileNotFoundError:
        return False
    return True


def _folder() -> Path:
    return home() / _FOLDER
