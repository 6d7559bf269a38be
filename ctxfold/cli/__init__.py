"""The `ctxfold` command: finds commands by entry point, runs one, turns failures into one line and an exit code."""

from __future__ import annotations

import ast
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

import click

from ctxfold.errors import BrokenInstall, CtxfoldError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `ctxfold` with these arguments, those of the process if None, and exit: 0 done, 1 not achieved, 2 usage, 3
    environment, 130 interrupted.
    """
    try:
        code = run(root, arguments)
    except KeyboardInterrupt:  # pressed before a command had begun
        code = 130
    sys.exit(code)


def read_summary(entry: EntryPoint) -> str | None:
    """The first sentence of a command's docstring; None where its source cannot be read."""
    source = _find_source(entry.module)
    if source is None:
        return None
    for node in ast.parse(source.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry.attr:
            paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
            return " ".join(paragraph.partition(". ")[0].split()).removesuffix(".")
    return None


def _find_source(module: str) -> Path | None:
    """The file of a module, found from its outermost package inwards without importing any of them."""
    outermost, *inner = module.split(".")
    spec = PathFinder.find_spec(outermost)
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for file in (Path(folder, *inner, "__init__.py"), Path(folder, *inner).with_suffix(".py")):
            if file.is_file():
                return file
    return None


GROUP = "ctxfold.commands"
"""The entry-point group: a name, and its click command."""


class _Commands(click.Group):
    """The command group; entry points are its members."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(_list_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = _list_entries().get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ImportError as error:
            raise BrokenInstall(f"the command {cmd_name!r} does not load ({error}): reinstall ctxfold") from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summarize(name)) for name in self.list_commands(ctx)])

    def _summarize(self, name: str) -> str:
        return read_summary(_list_entries()[name]) or "(does not load: reinstall ctxfold)"


@cache
def _list_entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"ctxfold {version('ctxfold')}")
        ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`ctxfold demo` shows the whole thing once; `ctxfold COMMAND --help` says what a command takes.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
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
    streams = sys.stdout, sys.stderr
    try:
        code = command.main(arguments, prog_name="ctxfold", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as leaving:
        if (sys.stdout, sys.stderr) == streams and not isinstance(leaving.__context__, BrokenPipeError):
            raise
        # Click puts others there when a reader goes away, and both it and rich leave with 1.
        sys.stdout, sys.stderr = streams
        _stop_printing()
        return 0
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001 - every failure ends here
        ending = _end(error)
        return _report_mistake(error) if ending is None else ending
    return code if isinstance(code, int) else 0


def _end(error: BaseException) -> int | None:
    """Print an expected failure and give its exit code; None for a mistake of ours.

    Of failures that came together, from tasks side by side, all must be expected; the first is printed.
    """
    match error:
        case BaseExceptionGroup():
            _, unexpected = error.split(EXPECTED)
            return _end(_find_first(error)) if unexpected is None else None
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
        case BrokenPipeError():
            _stop_printing()
            return 0
        case OSError():
            about = error.filename or "standard input or output"
            return _fail(f"{about}: {error.strerror or error}; free some space or name another place", ENVIRONMENT)
        case _:
            # An interrupt while modules load may come out as what the loading made of it.
            while error.__cause__ is not None:
                error = error.__cause__
            return INTERRUPTED if isinstance(error, KeyboardInterrupt) else None


def _find_first(error: BaseException) -> BaseException:
    return _find_first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _report_mistake(error: BaseException) -> int:
    """Report an unexpected failure in one line, with the file that holds its details."""
    unexpected = error.split(EXPECTED)[1] if isinstance(error, BaseExceptionGroup) else error
    kind = type(_find_first(unexpected or error)).__name__
    try:
        file = _write_details(error)
    except (CtxfoldError, OSError) as trouble:
        return _fail(f"ctxfold itself failed ({kind}), and the details could not be kept: {trouble}", ENVIRONMENT)
    return _fail(f"ctxfold itself failed ({kind}); nothing recorded is lost. Please report it with {file}", ENVIRONMENT)


def _write_details(error: BaseException) -> Path:
    """Keep where a failure happened, for its user alone, in the place of the one before. Raises ReadOnlyStore, OSError:
    it cannot be written.
    """
    from ctxfold.config import home

    file = home() / LAST_FAILURE
    file.unlink(missing_ok=True)
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as kept:
        kept.writelines(_list_places(error))
    return file


def _list_places(error: BaseException) -> Iterator[str]:
    """The frames and kinds of an error and of what led to it, without a word of its own."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _list_places(before)
        yield "\nand then\n\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}\n"
    for inner in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield "\nin it\n\n"
        yield from _list_places(inner)


def _fail(message: str, code: int) -> int:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return code


def _prepare_streams() -> None:
    """Make any text printable: escape characters that the encoding lacks, and replace closed streams by empty ones."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open to the end of the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _stop_printing() -> None:
    """Discard buffered output quietly, because the reader has gone (`| head`)."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
