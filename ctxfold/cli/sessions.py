"""`ctxfold sessions`: list, show, export, import and delete the sessions of the store."""

from __future__ import annotations

from pathlib import Path

import click

from ctxfold.cli.options import (
    confirm,
    find_transcript,
    json_option,
    name_of,
    open_existing,
    session_argument,
    store_option,
    transcript_options,
    yes_option,
)
from ctxfold.cli.output import escape_controls, format_time, print_json, print_table
from ctxfold.errors import InputError
from ctxfold.text.words import counted

__all__ = ["sessions"]

_LONGEST = 400
"""Characters of a first line: click cuts it at those of one terminal's line."""


class _Whole(click.Group):
    """A group that says of each command all that its first line says, however narrow the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
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

    Tokens: `raw` is what the steps that lead to the tip cost as they were recorded; `view`, what a model reads of them and of goal, to-do and notes, within
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

    A transcript is read as often as you like: what the session holds already is not recorded again. A plain text comes in with `ctxfold record SESSION <
    FILE`.
    """
    import ctxfold

    if host is not None:
        transcript = find_transcript(host, file, latest)
        entries = list(transcript.new())
        if not entries:
            raise InputError(f"{transcript.path} holds no conversation as {host} writes it: name another file or host")
        with ctxfold.Session.open(name or name_of(transcript), store=store) as opened:
            new = sum(opened.record_transcript(entries).values())
            lines = counted(transcript.unread, "line of it is", "lines of it are")
            left = f"; {lines} no part of the conversation" if transcript.unread else ""
            click.echo(
                f"recorded {counted(new, 'new entry', 'new entries')} in {opened.name}, which now ends at s{opened.tip}{left}; "
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
