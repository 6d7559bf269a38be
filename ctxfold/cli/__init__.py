"""The `ctxfold` command: finds commands by entry point, runs one, turns failures into one line and an exit code."""

from __future__ import annotations

import ast
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path

import click

from ctxfold.errors import BrokenInstall, CtxfoldError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `ctxfold` with these arguments, those of the process if None, and exit: 0 done, 1 not achieved, 2 usage, 3
    environment, 130 interrupted.
    """
    sys.exit(run(root, arguments))


def read_summary(entry: EntryPoint) -> str:
    """The first sentence of a command's docstring, read from its source: to import all commands would take seconds."""
    try:
        spec = find_spec(entry.module)
    except ImportError:
        spec = None
    tree = ast.parse(Path(spec.origin).read_bytes() if spec and spec.origin else b"")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry.attr:
            paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
            return " ".join(paragraph.partition(". ")[0].split()).removesuffix(".")
    return "(does not load: reinstall ctxfold)"


GROUP = "ctxfold.commands"
"""The entry-point group: a name, and its click command."""


class _Commands(click.Group):
    """The command group; entry points are its members."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of all commands."""
        return sorted(_list_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command. Raises BrokenInstall: it does not load."""
        entry = _list_entries().get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ImportError as error:
            raise BrokenInstall(f"the command {cmd_name!r} does not load ({error}): reinstall ctxfold") from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, read_summary(entry)) for name, entry in sorted(_list_entries().items())])


@cache
def _list_entries() -> dict[str, EntryPoint]:
    """The entry points of all commands, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`ctxfold demo` shows the whole thing once; `ctxfold COMMAND --help` says what a command takes.",
)
@click.version_option(package_name="ctxfold", message="ctxfold %(version)s")
def root() -> None:
    """Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget."""


EXPECTED = (CtxfoldError, click.ClickException, click.Abort, KeyboardInterrupt, OSError)
INTERRUPTED = 130
ENVIRONMENT = 3
LAST_FAILURE = "last-failure.txt"
"""The file in ctxfold's folder that keeps the details of an unexpected failure."""


def run(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command to its end. Returns the exit code: 0 done, 1 not achieved, 2 usage, 3 environment,
    130 interrupted.
    """
    _prepare_streams()
    try:
        code = command.main(arguments, prog_name="ctxfold", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as leaving:
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        _stop_printing()  # click and rich leave with 1 when the reader goes away
        return 0
    except BaseException as error:  # noqa: BLE001 - every failure ends here
        return _end(error)
    return code if isinstance(code, int) else 0


def _end(error: BaseException) -> int:
    """Print a failure in one line, and give its exit code.

    Of failures that came together, from tasks side by side, one that is not expected goes first.
    """
    match error:
        case BaseExceptionGroup():
            return _end((error.split(EXPECTED)[1] or error).exceptions[0])
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message())
            return 0
        case click.UsageError(ctx=click.Context() as context):
            return _fail(f"{error.format_message().rstrip('.')}; see {context.command_path} --help", error.exit_code)
        case click.ClickException():
            return _fail(error.format_message().rstrip("."), error.exit_code)
        case CtxfoldError():
            return _fail(str(error), error.exit_code)
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED
        case _ if isinstance(error.__cause__, KeyboardInterrupt):  # interrupted while a module was loaded
            return INTERRUPTED
        case BrokenPipeError():
            _stop_printing()
            return 0
        case OSError():
            about = error.filename or "standard input or output"
            return _fail(f"{about}: {error.strerror or error}; free some space or name another place", ENVIRONMENT)
        case _:
            return _report_mistake(error)


def _report_mistake(error: BaseException) -> int:
    """Report a mistake of ours in one line, with the file that holds its details, for its user alone."""
    from ctxfold.config import home

    what = f"ctxfold itself failed ({type(error).__name__})"
    try:
        file = home() / LAST_FAILURE
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as details:
            details.writelines(_list_places(error))
    except (CtxfoldError, OSError) as trouble:
        return _fail(f"{what}, and the details could not be kept: {trouble}", ENVIRONMENT)
    return _fail(f"{what}; nothing recorded is lost. Please report it with {file}", ENVIRONMENT)


def _list_places(error: BaseException) -> Iterator[str]:
    """The frames and kinds of an error and of what led to it, without a word of its own."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _list_places(before)
        yield "\nand then\n\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}\n"


def _fail(message: str, code: int) -> int:
    """Print an error as one line, and give its exit code."""
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return code


def _prepare_streams() -> None:
    """Make any text printable: escape characters that the encoding lacks, and replace closed streams by empty ones."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open to the end of the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop_printing() -> None:
    """Discard buffered output quietly, because the reader has gone (`| head`)."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
