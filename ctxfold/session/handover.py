"""Keeps as small files what a session's host is to be given by its next hooks, so that these end at once, whether there is anything to give or not.

`restored` or `view` waits for the next prompt; numbered parts of a view, made before a compaction, wait for the hooks after it. Each is given once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ctxfold.config import home

__all__ = ["Due", "drop_parts", "forget", "hand_over", "is_waiting", "keep_parts", "take", "take_part"]

Due = Literal["view", "restored"]
"""What a prompt is to be given: the session's view, or the lines that were put back in it, which stand in that too."""

_FOLDER, _PROMPTS, _PARTS = "handover", "prompts", "parts"


def hand_over(session: str, due: Due) -> None:
    """Let the next prompt of a session's host be given something; a view that waits already goes before lines."""
    place = _folder(_PROMPTS) / session
    if due == "view" or not place.exists():
        _write(place, due)


def is_waiting() -> bool:
    """Whether the next prompt of any session is to be given something."""
    return any(_folder(_PROMPTS).iterdir())


def take(session: str) -> Due | None:
    """What the prompt of a session is to be given; from now on nothing is."""
    due = _take(_folder(_PROMPTS) / session)
    return None if due is None else "view" if due == "view" else "restored"


def keep_parts(session: str, parts: Sequence[str]) -> None:
    """Keep the answers of the hooks after a compaction, in their order, in place of those that were not given."""
    for at, part in enumerate(parts, 1):
        _write(_folder(_PARTS) / f"{session}.{at}", part)


def take_part(session: str, at: int) -> str | None:
    """The answer of one of these hooks, from 1; None where none is kept."""
    return _take(_folder(_PARTS) / f"{session}.{at}")


def drop_parts(session: str) -> None:
    """Let go of answers that were not given: the compaction did not come about."""
    for place in _folder(_PARTS).glob(f"{session}.*"):
        place.unlink(missing_ok=True)


def forget(store: str, session: str) -> None:
    """Keep nothing of a session of a store any more; files lie beside the configured store alone."""
    folder = Path(store).parent / _FOLDER
    for place in (folder / _PROMPTS / session, *(folder / _PARTS).glob(f"{session}.*")):
        place.unlink(missing_ok=True)


def _folder(name: str) -> Path:
    folder = home() / _FOLDER / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _write(place: Path, text: str) -> None:
    with open(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(text)


def _take(place: Path) -> str | None:
    try:
        text = place.read_text(encoding="utf-8")
        place.unlink()
    except FileNotFoundError:
        return None
    return text
