"""Says what differs between two versions of a text, line by line."""

from __future__ import annotations

from difflib import unified_diff
from functools import lru_cache

__all__ = ["changed_lines"]

_TURNED = 2_000
"""Lines that may differ for the difference to be sought."""


@lru_cache(maxsize=256)
def changed_lines(before: str, after: str) -> tuple[str, ...] | None:
    """The lines that went and came, as a unified diff without context; None where that is half of both or more, or too long to be sought."""
    old, new = before.split("\n"), after.split("\n")
    same = set(old) & set(new)
    turned = sum(line not in same for line in old) + sum(line not in same for line in new)
    if turned > min(_TURNED, (len(old) + len(new)) // 2) or max(len(old), len(new)) > 20 * _TURNED:
        return None
    return tuple(unified_diff(old, new, n=0, lineterm=""))[2:]
