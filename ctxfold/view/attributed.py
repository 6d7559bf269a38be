"""Results that stand behind the call they are of, and behind no other. It chooses none of them.

What came back is read as what the call right above it gave. Where that call is left out and another stands above, a mark says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ctxfold.log.lines import Line
from ctxfold.view.gathering import begins
from ctxfold.view.left_out import marked

__all__ = ["GHOST", "GHOST_TOKENS", "attributed", "calls_of"]

GHOST = "> …"
"""Stands for a call that is left out, where what it gave would else stand behind another."""
GHOST_TOKENS = 3
"""o200k tokens it costs."""
LATE = "< late, of "
"""How a result begins that says itself which step it is of."""


def calls_of(lines: Sequence[Line]) -> list[int | None]:
    """Of each line the place of the call it is of, or answers: the one it stands behind. None for what is of no call.

    Args:
        lines: a stretch in path order.
    """
    found: list[int | None] = []
    call: int | None = None
    for at, line in enumerate(lines):
        if begins(line):
            call = at
        elif line.kind not in ("call", "data", "text") or line.text.startswith(LATE):
            call = None
        found.append(call)
    return found


def attributed(lines: Sequence[Line], kept: Collection[int]) -> list[Line]:
    """Kept lines with the marks of what is left out, those for calls among them.

    Args:
        lines: a stretch in path order.
        kept: the places of the lines that stay.
    """
    made: list[Line] = []
    calls = calls_of(lines)
    standing: int | None = None
    for at, line in zip(sorted(kept), marked(lines, kept), strict=True):
        if line.kind == "call":
            standing = calls[at]
        elif line.kind not in ("data", "text") or line.text.startswith(LATE):
            standing = None
        elif standing is not None and standing != calls[at]:
            made.append(Line("call", line.ref, GHOST, GHOST_TOKENS))
            standing = calls[at] if calls[at] is not None else _NONE
        made.append(line)
    return made


_NONE = -1
"""The place of the call of what is of none."""
