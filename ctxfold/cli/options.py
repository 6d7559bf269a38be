"""The options that several commands share, and how a command opens its session or finds a transcript."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxfold.errors import InputError, UnknownSession

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.models import Roles, Spending
    from ctxfold.session.transcripts import Transcript

__all__ = [
    "announced",
    "budget_option",
    "confirm",
    "find_transcript",
    "json_option",
    "model_option",
    "name_of",
    "open_existing",
    "session_argument",
    "session_command",
    "store_option",
    "transcript_options",
    "yes_option",
]

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
    """`--model` and `--endpoint` for a command on sessions; both reach it as `model`, the model's name with its server behind it."""

    @wraps(function)
    def run(*given: Any, model: str | None, endpoint: str | None, **options: Any) -> int | None:
        if endpoint is not None and model is None:
            raise InputError("--endpoint is where a model is asked: name that with --model")
        return function(*given, model=model if endpoint is None else f"{model}@{endpoint}", **options)

    named = click.option(
        "--model",
        metavar="NAME",
        help="The model that decides: claude-…, PROVIDER:NAME, script:FILE; the role's own setting if not said, else the embedded decider.",
    )
    served = click.option(
        "--endpoint", metavar="URL", help="The server that the model is asked at, if not its provider's."
    )
    return named(served(run))


def announced(model: str | None, dollars: float | None, helping: Roles, what: str = "") -> Spending:
    """Which model decides runs, and what they may cost; a person is told where nobody named it, or where no limit holds. `what` begins the line."""
    from ctxfold.models import spending

    found = spending(model, dollars, helping)
    if found.notice:
        click.echo(what + found.notice, err=True)
    return found


def session_command(function: Callable[..., int | None]) -> click.Command:
    """A command about one session that is there: it adds SESSION, `--json` and `--store`, and opens the session for the function, which takes that first
    and `as_json` beside its own parameters; what it returns is the exit code.
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
    """The session of that name, opened; none is made. Raises UnknownSession: there is none in that store."""
    import ctxfold

    try:
        return ctxfold.Session.open(name, store=store, create=False)
    except UnknownSession as error:
        names = [info.name for info in ctxfold.sessions(store)]
        raise UnknownSession(f"no session {name!r}: {_suggest(name, names)}") from error


def confirm(question: str, yes: bool) -> None:
    """Go on only if a person agrees, or `--yes` said so beforehand; the command ends with 1 where they do not. Raises InputError: nobody is there to ask."""
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
    """The transcript that a command's options name. Raises InputError: an unknown host, no file, or both a file and `--latest`."""
    from ctxfold.session.transcripts import HOSTS, Transcript, find_latest

    found = HOSTS.get(host)
    if found is None:
        raise InputError(f"no host {host!r} whose transcripts can be read: {', '.join(HOSTS)}")
    if (file is None) != latest:
        raise InputError("give the transcript's file, or --latest")
    return Transcript(found, file or find_latest(found, Path.home(), os.environ.get(found.home[0])))


def name_of(transcript: Transcript) -> str:
    """A session's name made of the host's and the conversation's id, which stands in the file's name."""
    from ctxfold.session.transcripts import name_conversation

    return name_conversation(transcript.host.name, transcript.path.stem)
