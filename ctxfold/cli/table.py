"""Rows as a person reads them on a terminal: in columns where each word fits whole, else one row after the other. It prints nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

__all__ = ["stacked", "widths"]

GAP = 2
"""Blanks between two columns."""
TALL = 4
"""Lines of a cell up to which a column is read more easily than a line of its own."""
INDENT = 4
"""Blanks before what of a row stands on further lines."""


def widths(rows: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide each column is, so that no word is broken; None where that needs more than there is, or a tower of words.

    Args:
        rows: one text a cell, the names of the columns among them.
        room: cells of the terminal's line.

    Returns:
        A width a column: at least its longest word; what is left goes to the columns that need least to stand on one line.
    """
    columns = list(zip(*rows, strict=True))
    whole = [max(map(cell_len, column)) for column in columns]
    made = [max(cell_len(word) for text in column for word in (text.split() or [""])) for column in columns]
    spare = room - sum(made) - GAP * (len(made) - 1)
    if spare < 0:
        return None
    for at in sorted(range(len(made)), key=lambda at: whole[at] - made[at]):
        grown = min(whole[at] - made[at], spare)
        made[at] += grown
        spare -= grown
    return made if all(wide <= TALL * width for wide, width in zip(whole, made, strict=True)) else None


def stacked(columns: Sequence[str], row: Sequence[str], room: int) -> list[str]:
    """A row as lines of its own, broken between cells, or between words where a cell is longer than a line.

    Args:
        columns: their names, which a number is told with.
        row: one text a cell; what is empty is left out.
        room: cells of the terminal's line.
    """
    lines = [""]
    for name, text in zip(columns, row, strict=True):
        told = f"{name} {text}" if text.isdigit() else text
        fits = cell_len(told) <= room - INDENT
        for at, piece in enumerate([told] if fits else told.split()):
            gap = " " * (1 if at else GAP) if lines[-1].strip() else ""
            if lines[-1].strip() and cell_len(lines[-1]) + len(gap) + cell_len(piece) > room:
                lines.append(" " * INDENT)
                gap = ""
            lines[-1] += gap + piece if piece else ""
    return lines
