"""The mark of what was left out, and rows without it. It decides nothing about what is left out."""

from __future__ import annotations

__all__ = ["CUT", "is_cut", "whole"]

CUT = "…"
"""What stands where something was left out; the whole of it is at the step's address."""

_BEHIND = f" {CUT}"


def whole(row: str) -> tuple[str, str]:
    """A row without the mark of what was left out behind it, and that mark; empty where there is none."""
    return (row[: -len(_BEHIND)], _BEHIND) if row.endswith(_BEHIND) else (row, "")


def is_cut(row: str) -> bool:
    """Whether a row says already that something behind it was left out."""
    return row.endswith(CUT)
