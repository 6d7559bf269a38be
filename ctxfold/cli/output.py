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

__all__ = ["escape_controls", "format_time", "is_terminal", "print_json", "print_table", "print_text", "show_note"]

KEPT = {"\n", "\t"}
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that steer a terminal or hide text: controls, formats (direction marks), lone surrogates, odd line ends."""
NUMBERS = {"event", "steps", "branches", "bytes", "tokens"}
"""Columns that stand to the right."""


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_to_plain))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: on a terminal as a table, else as tab-separated cells under a line of column names."""
    cells = [[escape_controls(" ".join(str(cell).split())) for cell in row] for row in rows]
    if not is_terminal():
        click.echo("\n".join("\t".join(row) for row in [list(columns), *cells]))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in NUMBERS else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    Console().print(table)


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


def format_time(seconds: float) -> str:
    """A time of the store (seconds since 1970) as the person's own clock shows it, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _to_plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")
