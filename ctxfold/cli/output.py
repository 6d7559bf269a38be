"""Prints for commands: JSON, tables, and text without control characters."""

from __future__ import annotations

import dataclasses
import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import click

__all__ = [
    "escape_controls",
    "format_place",
    "format_time",
    "is_terminal",
    "print_json",
    "print_table",
    "print_text",
    "show_note",
]

KEPT = {"\n", "\t"}
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that steer a terminal or hide text: controls, formats (direction marks), lone surrogates, odd line ends."""
NUMBERS = {"event", "branches", "bytes", "raw", "before", "since"}
"""Columns that stand to the right."""
_GAP = 2
"""Spaces between two columns."""
_LAST = 24
"""The room that the last column of a table needs."""


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_to_plain))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: on a terminal as a table, else as tab-separated cells under a line of column names.

    Only the last column is broken over lines. Where the others leave it no room, each row stands as its first cell and the rest beneath, by their names.
    """
    cells = [[escape_controls(" ".join(str(cell).split())) for cell in row] for row in rows]
    if not is_terminal():
        click.echo("\n".join("\t".join(row) for row in [list(columns), *cells]))
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console()
    widths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    if sum(widths[:-1]) + _GAP * (len(columns) - 1) + min(widths[-1], _LAST) > console.width:
        for first, *rest in cells:
            console.print(Text(first, style="bold", overflow="fold"))
            facts = "  ".join(f"{name} {cell}" for name, cell in zip(columns[1:], rest, strict=True) if cell)
            console.print(Padding(Text(facts, overflow="fold"), (0, 0, 0, _GAP)))
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in NUMBERS else "left",
            overflow="fold",
            no_wrap=column != columns[-1],
        )
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def print_text(text: str) -> None:
    """Print text that may hold anything: as it is into a pipe or file, harmless on a terminal."""
    click.echo(escape_controls(text) if is_terminal() else text)


def show_note(note: str) -> None:
    """Say on standard error why something is not the model's work; nothing where there is nothing to say."""
    if note:
        click.echo(f"note: {escape_controls(note)}", err=True)


def escape_controls(text: str) -> str:
    r"""The text with what could steer a terminal or hide itself written out, an escape as `\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in KEPT or unicodedata.category(char) not in INVISIBLE else ascii(char)[1:-1] for char in text
    )


def is_terminal() -> bool:
    """Whether a person reads along."""
    return sys.stdout.isatty()


def format_place(branch: str, tip: int, topic: str = "") -> str:
    """Where one stands: the branch, its topic where that has another name, and the last step."""
    of = f" of the topic {topic}" if topic not in ("", branch) else ""
    return f"you are on {branch}{of}, {f'at s{tip}' if tip else 'where nothing is recorded yet'}"


def format_time(seconds: float) -> str:
    """A time of the store (seconds since 1970) as the person's own clock shows it, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _to_plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")
