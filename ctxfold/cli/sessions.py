"""`ctxfold sessions`: list, show, export, import and delete the sessions of the store."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxfold.cli.options import (
    confirm,
    escape_controls,
    find_transcript,
    format_time,
    json_option,
    name_of,
    open_existing,
    print_json,
    print_table,
    session_argument,
    session_command,
    store_option,
    transcript_options,
    yes_option,
)
from ctxfold.errors import CtxfoldError, InputError
from ctxfold.text.words import counted

if TYPE_CHECKING:
    from ctxfold import Session


_LONGEST = 400
"""Characters of a first line: click cuts it at those of one terminal's line."""


class _Whole(click.Group):
    """A command group whose help shows each command's first line in full, even in a narrow terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(_LONGEST)) for name, each in sorted(self.commands.items())]
            )


@click.group(cls=_Whole)
def sessions() -> None:
    """List, show, export, import and delete sessions."""


@sessions.command("list")
@json_option
@store_option
def list_sessions(as_json: bool, store: str | None) -> None:
    """List the sessions of the store, the last used first."""
    import ctxfold

    found = sorted(ctxfold.sessions(store), key=lambda info: info.updated, reverse=True)
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no session yet: `ctxfold demo` or `ctxfold record` makes one", err=True)
        return
    print_table(
        ["session", "steps", "branches", "updated", "bytes", "goal"],
        [[info.name, info.steps, info.branches, format_time(info.updated), info.bytes, info.goal] for info in found],
    )


@sessions.command()
@session_argument
@json_option
@store_option
def show(session: str, as_json: bool, store: str | None) -> None:
    """Show one session: its goal, size, branches and tokens.

    `raw tokens` is the cost of the branch's steps as they were recorded; `view tokens` is the cost of the view within
    the session's budget.
    """
    import ctxfold

    with open_existing(session, store) as opened:
        view, branch, tip = opened.view(), opened.branch_name, opened.tip
    info = next(info for info in ctxfold.sessions(store) if info.name == session)
    facts = {
        "session": info.name,
        "goal": info.goal,
        "steps": info.steps,
        "branches": info.branches,
        "branch": branch,
        "tip": tip,
        "created": info.created,
        "updated": info.updated,
        "bytes": info.bytes,
        "raw_tokens": view.unfolded,
        "view_tokens": view.tokens,
        "budget": view.budget,
    }
    if as_json:
        print_json(facts)
        return
    facts |= {"tip": f"s{tip}", "created": format_time(info.created), "updated": format_time(info.updated)}
    for name, value in facts.items():
        shown = f"{value:,}" if isinstance(value, int) else escape_controls(" ".join(str(value).split()))
        click.echo(f"{name.replace('_', ' '):<16}{shown}")


@sessions.command()
@session_argument
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@store_option
def export(session: str, file: Path | None, force: bool, store: str | None) -> None:
    """Write a session to a file, SESSION.jsonl if none is named.

    The file holds everything: the log, the folds, the branches. `ctxfold sessions import` reads it back.
    """
    import ctxfold

    target = file or Path(f"{session}.jsonl")
    if target.exists() and not force:
        raise InputError(f"{target} is there already: name another file, or add --force")
    open_existing(session, store).close()
    ctxfold.export_session(session, target, store=store)
    click.echo(f"wrote {session} to {target}", err=True)


@sessions.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@transcript_options
@click.option("--name", metavar="SESSION", help="Another name for it than the one in the file.")
@store_option
def import_session(file: Path | None, host: str | None, latest: bool, name: str | None, store: str | None) -> None:
    """Read a session from a file that `export` wrote, or a host's own transcript with --from.

    A transcript can be read again: entries that the session holds are skipped. `ctxfold record SESSION < FILE` records
    plain text.
    """
    import ctxfold

    if host is not None:
        transcript = find_transcript(host, file, latest)
        messages = list(transcript.read_new())
        if not messages:
            raise InputError(f"{transcript.path} holds no conversation as {host} writes it: name another file or host")
        with ctxfold.Session.open(name or name_of(transcript), store=store) as opened:
            new = len(opened.record(messages))
            lines = counted(transcript.unread, "line of it is", "lines of it are")
            left = f"; {lines} no part of the conversation" if transcript.unread else ""
            click.echo(
                f"recorded {counted(new, 'new entry', 'new entries')} in {opened.name}, "
                f"which now ends at s{opened.tip}{left}; "
                f"look at it: ctxfold log {opened.name}",
                err=True,
            )
        return
    if file is None or latest:
        raise InputError("name the file to read; --latest needs --from HOST")
    made = ctxfold.import_session(file, store=store, name=name)
    click.echo(f"made the session {made} from {file}; look at it: ctxfold log {made}", err=True)


@sessions.command()
@session_argument
@yes_option
@store_option
def delete(session: str, yes: bool, store: str | None) -> None:
    """Delete a session and whatever only it holds; this cannot be undone."""
    import ctxfold

    with open_existing(session, store) as opened:
        steps = opened.tip
    confirm(f"Delete {session} (newest step s{steps}) for good?", yes)
    ctxfold.delete_session(session, store=store)
    click.echo(f"deleted {session}", err=True)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@transcript_options
@click.option("--name", metavar="SESSION", help="The session; without it, one named after host and file.")
@click.option(
    "--every", type=click.FloatRange(0.05), default=0.5, show_default=True, metavar="SECONDS", help="How often to look."
)
@click.option(
    "--idle",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="End when nothing new came for so long; without it, at Ctrl-C.",
)
@store_option
def follow(
    file: Path | None,
    host: str | None,
    latest: bool,
    name: str | None,
    every: float,
    idle: float | None,
    store: str | None,
) -> None:
    """Record a host's transcript as it grows: `ctxfold follow --from claude-code --latest`.

    Nothing is sent to the host, and nothing leaves this machine. What was recorded before is not recorded again.
    """
    import ctxfold

    if host is None:
        raise InputError("say who writes the transcript: --from claude-code")
    transcript = find_transcript(host, file, latest)
    with ctxfold.Session.open(name or name_of(transcript), store=store) as session:
        click.echo(f"following {transcript.path} into {session.name}", err=True)
        quiet = 0.0
        while idle is None or quiet < idle:
            new = len(session.record(transcript.read_new()))
            if new:
                click.echo(f"s{session.tip}: {counted(new, 'new entry', 'new entries')}", err=True)
            quiet = 0.0 if new else quiet + every
            time.sleep(every)


PIPED = "-"
"""The option value that reads standard input."""

LARGEST = 64 << 20
"""The most that is read from standard input, in bytes."""


@click.command()
@session_argument
@click.option("--user", metavar="TEXT", help="A message of the user's; - reads it from standard input.")
@click.option("--reply", metavar="TEXT", help="The assistant's answer; - reads it from standard input.")
@click.option("--step", metavar="JSON", help="Whole steps, one JSON object a line; - reads them from standard input.")
@click.option("--call", default="stdin", show_default=True, metavar="NAME", help="What gave the text that is piped in.")
@click.option("--goal", metavar="TEXT", help="What the session is for, when it is new.")
@json_option
@store_option
def record(
    session: str,
    user: str | None,
    reply: str | None,
    step: str | None,
    call: str,
    goal: str | None,
    as_json: bool,
    store: str | None,
) -> None:
    """Record text in a session's log, and make the session if there is none.

    Without an option, standard input is recorded as a tool's result: `make test | ctxfold record work --call "make
    test"`. A step is {"explanation": "…", "calls": [{"name", "args", "id"}], "results": [{"id", "text"}], "found":
    "…"}. Nothing is folded. The numbers of the steps are printed.
    """
    import ctxfold

    write = _choose_writer(user, reply, step, call)
    with ctxfold.Session.open(session, goal=goal, store=store) as opened:
        if opened.created:
            click.echo(f"new session {session}", err=True)
        steps = write(opened)
    if as_json:
        print_json({"session": session, "steps": steps})
        return
    click.echo("\n".join(f"s{number}" for number in steps))


def _choose_writer(user: str | None, reply: str | None, step: str | None, call: str) -> Callable[[Session], list[int]]:
    """What will be written, all of it read and checked before a session is opened."""
    match user, reply, step:
        case None, None, None:
            text = _read_pipe()
            calls = [{"name": call, "args": {}, "id": "c1"}]
            return lambda session: [session.record_step(calls=calls, results=[{"id": "c1", "text": text}]).step]
        case str(), None, None:
            message = _read_value(user)
            return lambda session: [session.record_turn(user=message).step]
        case None, str(), None:
            answer = _read_value(reply)
            return lambda session: [session.record_reply(answer).step]
        case None, None, str():
            steps = _read_steps(_read_value(step))
            return lambda session: [session.record_step(**one).step for one in steps]
        case _:
            raise InputError("one thing at a time: give --user, --reply or --step, or pipe a text in")


def _read_value(value: str) -> str:
    return _read_pipe() if value == PIPED else value


def _read_pipe() -> str:
    if sys.stdin.isatty():
        raise InputError("nothing is piped in: ctxfold record SESSION < file, or give --user, --reply or --step")
    raw = sys.stdin.buffer.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(f"standard input is longer than {LARGEST >> 20} MB: record it in parts, one step each")
    if not raw:
        raise InputError("standard input is empty: nothing was recorded")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is not UTF-8 text (byte {error.start}): convert it first, with iconv for one"
        ) from error


def _read_steps(text: str) -> list[Mapping[str, Any]]:
    """The steps of JSON lines, or of one object or array over several lines."""
    from ctxfold.text.json import read_values

    try:
        steps = read_values(text)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno} is not JSON ({error.msg}): give one step a line") from error
    if not steps:
        raise InputError("there is no step in that: nothing was recorded")
    return [_check_step(one, number) for number, one in enumerate(steps, start=1)]


def _check_step(value: object, number: int) -> Mapping[str, Any]:
    """A step as `Session.record_step` takes it: whole, so that of several none is recorded where one is refused."""
    from ctxfold.session.record import read_step

    names = {"explanation", "calls", "results", "found"}
    if not isinstance(value, dict) or not value or set(value) - names:
        raise InputError(f"step {number} is not an object of {', '.join(sorted(names))}")
    calls, results = value.get("calls", []), value.get("results", [])
    if not isinstance(calls, list) or not isinstance(results, list):
        raise InputError(f"step {number} needs its calls and results as arrays: [{{...}}]")
    words = [value.get(name, "") for name in ("explanation", "found")]
    if not all(isinstance(text, str) for text in words):
        raise InputError(f"step {number}: text is wanted for explanation and found")
    try:
        read_step(words[0], calls, results)
    except CtxfoldError as error:
        raise InputError(f"step {number}: {error}") from error
    return value


@session_command
@click.argument("what", metavar="REF_OR_PATTERN")
@yes_option
def redact(session: Session, what: str, yes: bool, as_json: bool) -> None:
    """Blank text for good, in the log and in everything made from it.

    A ref blanks its records. A regular expression blanks all its matches, in common encodings too. A mark of the same
    length replaces the text; a branch, topic or session whose name matches is renamed. This cannot be undone, and is
    logged.
    """
    confirm(f"Blank {what!r} in {session.name} for good?", yes)
    before = session.name
    redacted = session.redact(what)
    if as_json:
        print_json(redacted)
        return
    renamed = (
        f", and called {counted(redacted.names, 'branch or topic', 'branches and topics')} otherwise"
        if redacted.names
        else ""
    )
    click.echo(
        f"blanked {counted(redacted.bytes, 'byte')} in {counted(redacted.records, 'record')} of {session.name}{renamed}"
    )
    if session.name != before:
        click.echo(f"the session told of it by its name: it is called {session.name} now")
    click.echo(f"not reached: {'; '.join(redacted.left)}", err=True)
