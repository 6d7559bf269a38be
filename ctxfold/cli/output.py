"""How a command prints: JSON, a table, or text made harmless for a terminal. It decides nothing about what is printed."""

from __future__ import annotations

import dataclasses
import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import click
from rich.cells import cell_len

__all__ = [
    "harmless",
    "on_terminal",
    "print_json",
    "print_table",
    "print_text",
    "show_note",
    "stacked",
    "when",
    "widths",
]


KEPT = {"\n", "\t"}
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that steer a terminal or hide text: controls, formats (direction marks), lone surrogates, odd line ends."""


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: on a terminal as a table, or one after the other where it is too narrow; else as tab-separated cells under a line of column names."""
    cells = [[harmless(str(cell)) for cell in row] for row in rows]
    if not on_terminal():
        for row in [list(columns), *cells]:
            click.echo("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.console import Console, JustifyMethod
    from rich.table import Table
    from rich.text import Text

    console = Console()
    cells = [[" ".join(cell.split()) for cell in row] for row in cells]
    found = widths([columns, *cells], console.width)
    if found is None:
        for row in cells:
            console.print("\n".join(stacked(columns, row, console.width)), markup=False, highlight=False)
        return
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column, width in zip(columns, found, strict=True):
        justify: JustifyMethod = "right" if column in ("steps", "bytes", "tokens") else "left"
        table.add_column(column, justify=justify, width=width)
    for row in cells:
        table.add_row(*[Text(cell) for cell in row])
    console.print(table)


def print_text(text: str) -> None:
    """Print text that may hold anything: as it is into a pipe or file, harmless on a terminal."""
    click.echo(harmless(text) if on_terminal() else text)


def show_note(note: str) -> None:
    """Say on standard error why something is not the model's work; nothing where there is nothing to say."""
    if note:
        click.echo(f"note: {harmless(note)}", err=True)


def harmless(text: str) -> str:
    r"""The text with what could steer a terminal or hide itself written out, an escape as `\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in KEPT or unicodedata.category(char) not in INVISIBLE else ascii(char)[1:-1] for char in text
    )


def on_terminal() -> bool:
    """Whether a person reads along."""
    return sys.stdout.isatty()


def when(seconds: float) -> str:
    """A time of the store (seconds since 1970) as the person's own clock shows it, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


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
