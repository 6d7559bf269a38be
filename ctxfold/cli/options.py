"""The options that several commands share, how a command opens its session, and how it prints what it
found: as JSON, or with control characters escaped.
"""

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
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ctxfold.errors import InputError, UnknownSession
from ctxfold.tokens import DEFAULT_BUDGET

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.models import Roles, Spending


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

session_argument: Decorator = click.argument("session", metavar="SESSION")


def _set_variable(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that sets a variable for this process to the value of an option."""

    def set_it(_context: click.Context, _option: click.Parameter, value: Any) -> None:
        if value:
            os.environ[name] = str(value)

    return set_it


def _read_tools(_context: click.Context, _option: click.Parameter, file: Path | None) -> Any:
    """The definitions of tools in a file: a list, or an object with `tools` as MCP lists them."""
    try:
        tree = None if file is None else json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"--tools is not JSON ({error}): give a list of the tools' definitions") from error
    return tree.get("tools", tree) if isinstance(tree, dict) else tree


fold_at_option: Decorator = click.option(
    "--fold-at",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    expose_value=False,
    callback=_set_variable("CTXFOLD_FOLD_AT"),
    help="Fold from this share of the budget on; 0.9 if not said. Settings: table [fold], with depth and window too.",
)
micro_option: Decorator = click.option(
    "--micro",
    is_flag=True,
    expose_value=False,
    callback=_set_variable("CTXFOLD_MICRO"),
    help="Fold each step alone once the next is recorded.",
)
rules_option: Decorator = click.option(
    "--rules",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    expose_value=False,
    callback=_set_variable("CTXFOLD_RULES"),
    help="Standing rules: its bullets and paragraphs become constraints.",
)
store_option: Decorator = click.option("--store", metavar="PLACE", help="The store's path or URL, if not the default.")
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option: Decorator = click.option("--yes", "-y", is_flag=True, help="Do not ask first.")
_tools_file = click.Path(exists=True, dir_okay=False, path_type=Path)
tools_option: Decorator = click.option(
    "--tools", type=_tools_file, metavar="FILE", callback=_read_tools, help="The agent's tools, as JSON for its API."
)
budget_option: Decorator = click.option(
    "--budget", default=DEFAULT_BUDGET, show_default=True, metavar="TOKENS", help="The most tokens the view may take."
)


def model_option(function: Callable[..., Printout]) -> Callable[..., Printout]:
    """Add `--model` and `--endpoint` to a command, which receives both as `model`: the name, then `@`
    and the server.
    """

    @click.option("--model", metavar="NAME", help="Who decides: claude-…, PROVIDER:NAME, script:FILE.")
    @click.option("--endpoint", metavar="URL", help="The server of the model, if not its provider's.")
    @wraps(function)
    def run(*given: Any, model: str | None, endpoint: str | None, **options: Any) -> Printout:
        if endpoint is not None and model is None:
            raise InputError("--endpoint is where a model is asked: name that with --model")
        return function(*given, model=model if endpoint is None else f"{model}@{endpoint}", **options)

    return run


def choose_model(model: str | None, dollars: float | None, helping: Roles, what: str = "") -> Spending:
    """Choose the model of a run and its cost limit, and print a notice when the choice or the limit is a default.
    `what` begins the line.
    """
    from ctxfold.models import spending

    chosen = spending(model, dollars, helping)
    if chosen.notice:
        click.echo(what + chosen.notice, err=True)
    return chosen


class Printout(NamedTuple):
    """What a command prints: with `--json` the `value`; else the `lines`, with controls escaped, and the `text`, byte
    for byte, on standard output, then the `notes` on standard error. `code` is the exit code.
    """

    value: object
    lines: Sequence[str] = ()
    text: str = ""
    notes: Sequence[str] = ()
    code: int = 0


def data_command(function: Callable[..., Printout]) -> click.Command:
    """Make a command of a function that returns a Printout: add `--json` and `--store`, and print what it returns."""

    @wraps(function)
    def run(as_json: bool, **options: Any) -> int:
        printout = function(**options)
        if as_json:
            print_json(printout.value)
            return printout.code
        for line in printout.lines:
            click.echo(escape_controls(line))
        if printout.text:
            _print_exactly(printout.text)
        for note in printout.notes:
            click.echo(escape_controls(note), err=True)
        return printout.code

    own = run.__dict__.pop("__click_params__", [])  # `wraps` copied the function's options, the last one first
    json_option(store_option(run))
    run.__dict__["__click_params__"] += own  # the shared options come last in the help
    return click.command()(run)


def _print_exactly(text: str) -> None:
    """Print bytes with nothing added; on a terminal, with controls escaped."""
    if is_terminal():
        click.echo(escape_controls(text.removesuffix("\n")))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def session_command(function: Callable[..., Printout]) -> click.Command:
    """Make a command on one existing session: like `data_command`, with SESSION, which is opened for the function."""

    @wraps(function)
    def run(session: str, store: str | None, **options: Any) -> Printout:
        with open_existing(session, store) as opened:
            return function(opened, **options)

    return data_command(session_argument(run))


def open_existing(name: str, store: str | None) -> Session:
    """Open an existing session. Raises UnknownSession: the store has none of that name."""
    import ctxfold

    try:
        return ctxfold.Session.open(name, store=store, create=False)
    except UnknownSession as error:
        names = [info.name for info in ctxfold.sessions(store)]
        raise UnknownSession(f"no session {name!r}: {_suggest(name, names)}") from error


def _suggest(name: str, names: list[str]) -> str:
    """What to do about a session's name that is not among the names of the store."""
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "`ctxfold sessions list` shows those there are" if names else "there is none yet; `ctxfold record` makes one"


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


def print_json(value: object) -> None:
    """Print a value as JSON; dataclasses become objects."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=dataclasses.asdict))


NUMBERS = {"event", "branches", "bytes", "raw"}
"""Columns aligned to the right."""


def format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Write rows under a line of column names: aligned on a terminal, else with tabs between the cells."""
    cells = [list(columns), *[[escape_controls(" ".join(str(cell).split())) for cell in row] for row in rows]]
    if not is_terminal():
        return ["\t".join(row) for row in cells]
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]

    def align(name: str, cell: str, width: int) -> str:
        """Fill a cell up to the width of its column."""
        blanks = " " * (width - cell_len(cell))
        return blanks + cell if name in NUMBERS else cell + blanks

    return ["  ".join(map(align, columns, row, widths)).rstrip() for row in cells]


def show_note(note: str) -> None:
    """Say on standard error why something is not the model's work; nothing where there is nothing to say."""
    if note:
        click.echo(f"note: {escape_controls(note)}", err=True)


INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that steer a terminal or hide text: controls, formats (direction marks), lone surrogates, odd line
ends.
"""


def escape_controls(text: str) -> str:
    r"""The text with what could steer a terminal or hide itself written out, an escape as `\x1b`."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in INVISIBLE else ascii(char)[1:-1] for char in text
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
