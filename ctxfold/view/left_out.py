"""Kept lines that say where something between them was left out: one rule for a fold and for a view. It chooses none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ctxfold.log.compact.prose import CUT, is_cut
from ctxfold.log.lines import Line
from ctxfold.view.gathering import begins

__all__ = ["MARK", "marked"]

MARK = 1
"""Tokens the mark costs at most."""


def marked(lines: Sequence[Line], kept: Collection[int]) -> Iterator[Line]:
    """The kept lines in their order; a call and a record say at each place where something of theirs is left out.

    Args:
        lines: a stretch in path order.
        kept: the places of the lines that stay.

    Returns:
        The lines at these places, those with the mark a `MARK` of tokens dearer.
    """
    for at in sorted(kept):
        line = lines[at]
        after = lines[at + 1] if at + 1 < len(lines) else None
        if after is not None and at + 1 not in kept and _goes_on(line, after) and not is_cut(line.text):
            yield line.reworded(f"{line.text} {CUT}", line.tokens + MARK, line.keys)
        else:
            yield line


def _goes_on(line: Line, after: Line) -> bool:
    """Whether the line after another is of the same call, or of the same record's rows."""
    if line.kind == "call":
        return after.kind == "call" and not begins(after)
    return line.kind == after.kind == "data" and line.ref == after.ref
