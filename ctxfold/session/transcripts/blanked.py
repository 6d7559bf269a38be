"""Knows an entry of a transcript again of whose record a redaction blanked the key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ctxfold.log.refs import RecordRef
from ctxfold.store.codec import encode

__all__ = ["Blanked", "known_again"]

_NUMBERED = re.compile(r"(?<=\*)-\d+$")
"""What a redaction puts behind the second of two ids that it made alike."""


@dataclass(frozen=True, slots=True)
class Blanked:
    """A record whose key a redaction blanked: the key and the text as they stand, its place, and the id of its call."""

    key: str
    text: str
    ref: RecordRef
    call: str | None


def known_again(told: Iterable[tuple[str, str]], blanked: Iterable[Blanked]) -> Iterator[tuple[str, Blanked]]:
    """The keys of entries that stand in the log with parts of them blanked, each with its record; each record is known once.

    Args:
        told: the keys and texts of entries whose keys the log does not hold.
        blanked: the records that may be theirs, in the order of the log.
    """
    left = list(blanked)
    for key, text in told:
        for each in left:
            if (_fits(each.key, key) or _fits(_NUMBERED.sub("", each.key), key)) and _fits(each.text, text):
                left.remove(each)
                yield key, each
                break


def _fits(blanked: str, text: str) -> bool:
    """Whether a text may be what a tombstone was put in: it keeps the length in bytes, and the line ends."""
    parts = re.split(rb"(\*+)", encode(blanked))
    pattern = b"".join(b".{%d}" % len(part) if part.startswith(b"*") else re.escape(part) for part in parts)
    return re.fullmatch(pattern, encode(text), re.DOTALL) is not None
