"""Keeps the parts of a view that are made before a compaction, so that the hooks after it hand them out at once; each part is given once."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ctxfold.config import home
from ctxfold.session.transcripts import name_conversation

__all__ = ["drop_sections", "keep_sections", "take_section"]


def keep_sections(session: str, sections: Sequence[str]) -> None:
    """Keep the answers of the hooks after a compaction, in the order of the parts; what was kept before and not given goes."""
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    for at, section in enumerate(sections, 1):
        with open(os.open(folder / f"{session}.{at}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as out:
            out.write(section)


def drop_sections(session: str) -> None:
    """Let go of what was kept and not given: the compaction did not come about."""
    for place in _folder().glob(f"{session}.*"):
        place.unlink(missing_ok=True)


def take_section(host: str, part: str, event: bytes) -> str | None:
    """The answer that was kept for a part, `1/3`; None where none is, and it is to be made, or to be refused as no event."""
    try:
        named = name_conversation(host, str(json.loads(event)["session_id"]))
    except (ValueError, KeyError, TypeError):
        return None
    place = _folder() / f"{named}.{part.partition('/')[0]}"
    try:
        section = place.read_text()
        place.unlink()
    except FileNotFoundError:
        return None
    return section


def _folder() -> Path:
    return home() / "sections"
