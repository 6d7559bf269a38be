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

__all__ = ["harmless", "on_terminal", "print_json", "print_table", "print_text", "when"]

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

    from ctxfold.cli.table import GAP, stacked, widths

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
