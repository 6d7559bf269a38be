"""`Check`: one thing that `ctxfold doctor` looked at."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Check"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `fix`: the next move where it does not work, a command where there is one; `required`: whether ctxfold is of no use without it."""

    name: str
    ok: bool
    fact: str
    fix: str = ""
    required: bool = True
