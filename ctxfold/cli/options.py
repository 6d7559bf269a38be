"""The options that several commands share, and how a command opens its session or finds a transcript."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxfold.errors import InputError, UnknownSession

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.messages.files import Transcript
    from ctxfold.models import Roles, Spending


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

BUDGET = 8_000

session_argument: Decorator = click.argument("session", metavar="SESSION")
store_option: Decorator = click.option(
    "--store", metavar="PLACE", help="A store's path or URL; the configured one if not said."
)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option: Decorator = click.option("--yes", "-y", is_flag=True, help="Do not ask first.")
budget_option: Decorator = click.option(
    "--budget", type=int, default=BUDGET, show_default=True, metavar="TOKENS", help="The most tokens the view may take."
)


def model_option(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Add `--model` and `--endpoint` to a command, which receives both as `model`: the name, then `@`
    and the server.
    """

    @wraps(function)
    def run(*given: Any, model: str | None, endpoint: str | None, **options: Any) -> int | None:
        if endpoint is not None and model is None:
            raise InputError("--endpoint is where a model is asked: name that with --model")
        return function(*given, model=model if endpoint is None else f"{model}@{endpoint}", **options)

    named = click.option(
        "--model",
        metavar="NAME",
        help="The model that decides: claude-…, PROVIDER:NAME, script:FILE; default: the role's setting, else none.",
    )
    served = click.option(
        "--endpoint", metavar="URL", help="The server that the model is asked at, if not its provider's."
    )
    return named(served(run))


def choose_model(model: str | None, dollars: float | None, helping: Roles, what: str = "") -> Spending:
    """Choose the model of a run and its cost limit, and print a notice when the choice or the limit is a default.
    `what` begins the line.
    """
    from ctxfold.models import spending

    found = spending(model, dollars, helping)
    if found.notice:
        click.echo(what + found.notice, err=True)
    return found


def session_command(function: Callable[..., int | None]) -> click.Command:
    """Make a command on one existing session: add SESSION, `--json` and `--store`, open the session, and pass it to the
    function with `as_json`. The function returns the exit code.
    """

    @wraps(function)
    def run(session: str, store: str | None, **options: Any) -> int | None:
        with open_existing(session, store) as opened:
            return function(opened, **options)

    own = run.__dict__.pop("__click_params__", [])
    json_option(store_option(run))
    run.__dict__["__click_params__"] += own
    return click.command()(session_argument(run))


def open_existing(name: str, store: str | None) -> Session:
    """Open an existing session. Raises UnknownSession: the store has none of that name."""
    import ctxfold

    try:
        return ctxfold.Session.open(name, store=store, create=False)
    except UnknownSession as error:
        names = [info.name for info in ctxfold.sessions(store)]
        raise UnknownSession(f"no session {name!r}: {_suggest(name, names)}") from error


def confirm(question: str, yes: bool) -> None:
    """Go on only if a person agrees, or `--yes` said so beforehand; the command ends with 1 where they do not. Raises
    InputError: nobody is there to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{question} Nobody is there to ask: add --yes")
    if not click.confirm(question, err=True):
        click.echo("left as it is", err=True)
        raise click.exceptions.Exit(1)


def _suggest(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "`ctxfold sessions list` shows those there are" if names else "there is none yet; `ctxfold record` makes one"


def transcript_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--from` and `--latest` to a command."""
    latest = click.option("--latest", is_flag=True, help="With --from: the transcript that was written to last.")
    host = click.option(
        "--from",
        "host",
        metavar="HOST",
        help="Read a transcript as this host writes it: claude-code, codex, gemini, opencode, pi.",
    )
    return host(latest(command))


def find_transcript(host: str, file: Path | None, latest: bool) -> Transcript:
    """Find the transcript that a command's options name. Raises InputError: an unknown host, no file, or both a file
    and `--latest`.
    """
    from ctxfold.messages.files import Transcript
    from ctxfold.messages.hosts import HOSTS, find_latest

    found = HOSTS.get(host)
    if found is None:
        raise InputError(f"no host {host!r} whose transcripts can be read: {', '.join(HOSTS)}")
    if (file is None) != latest:
        raise InputError("give the transcript's file, or --latest")
    return Transcript(found, file or find_latest(found, Path.home(), os.environ.get(found.variable)))


def name_of(transcript: Transcript) -> str:
    """Make a session name from the host and the conversation's id, which is the file's name."""
    from ctxfold.messages.hosts import name_conversation

    return name_conversation(transcript.host.codec.name, transcript.path.stem)


KEPT = {"\n", "\t"}
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that steer a terminal or hide text: controls, formats (direction marks), lone surrogates, odd line
ends.
"""
NUMBERS = {"event", "branches", "bytes", "raw", "before", "since"}
"""Columns aligned to the right."""
_GAP = 2
"""Spaces between two columns."""
_LAST = 24
"""The room that the last column of a table needs."""


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_to_plain))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: on a terminal as a table, else as tab-separated cells under a line of column names.

    Only the last column wraps. When the others leave it no room, each row is printed as its first cell with the others
    beneath it.
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
    """Describe the current place: the branch, its topic if that has another name, and the last step."""
    of = f" of the topic {topic}" if topic not in ("", branch) else ""
    return f"you are on {branch}{of}, {f'at s{tip}' if tip else 'where nothing is recorded yet'}"


def format_time(seconds: float) -> str:
    """A time of the store (seconds since 1970) as the person's own clock shows it, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _to_plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")
