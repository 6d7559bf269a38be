"""The one door out of a command: every expected failure becomes one line on standard error and an exit code.

It prints no traceback for what was expected and hides none for what was not. No command catches these errors itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from ctxfold.errors import CtxfoldError

__all__ = ["run"]

EXPECTED = (CtxfoldError, click.ClickException, click.Abort, KeyboardInterrupt, OSError)
INTERRUPTED = 130
ENVIRONMENT = 3


def run(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command to its end.

    Args:
        command: the command, or the group of them.
        arguments: what it is given; None for those of the process.

    Returns:
        The exit code: 0 done, 1 the task was not achieved, 2 usage, 3 environment, 130 interrupted.
    """
    _ready_streams()
    try:
        code = command.main(arguments, prog_name="ctxfold", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        ending = _ending(error)
        if ending is None:
            raise
        return ending
    return code if isinstance(code, int) else 0


def _ending(error: BaseException) -> int | None:
    """The exit code of an expected failure, which is told here; None for a mistake of ours.

    Of failures that came together, from tasks side by side, all must be expected; the first is told.
    """
    match error:
        case BaseExceptionGroup():
            _, unexpected = error.split(EXPECTED)
            return _ending(_first(error)) if unexpected is None else None
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message())
            return error.exit_code
        case click.ClickException():
            return _failed(_usage(error), error.exit_code)
        case CtxfoldError():
            return _failed(str(error), error.exit_code)
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED
        case BrokenPipeError():
            _stop_printing()
            return 0
        case OSError():
            return _failed(_trouble(error), ENVIRONMENT)
        case _:
            return None


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _failed(message: str, code: int) -> int:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return code


def _usage(error: click.ClickException) -> str:
    """Click's message, and where the command's own help stands."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = error.format_message().rstrip(".")
    return f"{message}; see {context.command_path} --help" if context else message


def _trouble(error: OSError) -> str:
    """What the system refused: the file it was about, or the output that nothing more fits in."""
    about = f"{error.filename}: " if error.filename else "standard input or output: "
    return f"{about}{error.strerror or error}; free some space or name another place"


def _ready_streams() -> None:
    """Let any text be printed: what the stream's encoding lacks is escaped. A stream that was closed on us is an empty one."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open to the end of the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _stop_printing() -> None:
    """The reader has gone (`| head`): what is still buffered goes nowhere, quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
