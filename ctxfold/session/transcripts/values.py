"""What a transcript can say, whichever host wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

__all__ = ["COMPACTION", "AssistantSaid", "Called", "Entry", "HostCompacted", "ToolAnswered", "UserSaid", "key_of"]

COMPACTION = "compaction:"
"""How the key of a record begins that holds a host's summary of what it let go."""


@dataclass(frozen=True, slots=True)
class UserSaid:
    """Words of the user. `id` is the host's for this entry."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    """Words of the assistant."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call: its id, the tool's name and the arguments."""

    id: str
    name: str
    args: Any


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """What a call returned. `id` is the call's; `shown` a compact form of the text for views, None lets one be made."""

    id: str
    text: str
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class HostCompacted:
    """The host put a summary in place of what stood before."""

    id: str
    summary: str


Entry = UserSaid | AssistantSaid | Called | ToolAnswered | HostCompacted


def key_of(entry: Entry) -> str:
    """The idempotency key of the record that an entry becomes: the same entry, read again, is recorded once."""
    match entry:
        case UserSaid():
            return f"user:{entry.id}"
        case AssistantSaid():
            return f"assistant:{entry.id}"
        case Called():
            return f"call:{entry.id}"
        case ToolAnswered():
            return f"result:{entry.id}"
        case HostCompacted():
            return f"{COMPACTION}{entry.id}"
        case _:
            assert_never(entry)
