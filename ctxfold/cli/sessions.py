"""The commands that fill and keep sessions: record, follow, redact, and the group `sessions`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxfold.cli.options import (
    Printout,
    confirm,
    data_command,
    format_table,
    format_time,
    open_existing,
    rules_option,
    session_argument,
    session_command,
    store_option,
    tools_option,
    yes_option,
)
from ctxfold.errors import CtxfoldError, InputError
from ctxfold.text.words import counted

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.messages.files import Transcript


@data_command
def list_sessions(store: str | None) -> Printout:
    """List the sessions, the last used first."""
    import ctxfold

    infos = ctxfold.sessions(store)
    if not infos:
        return Printout([], notes=["no session yet: `ctxfold demo` or `ctxfold record` makes one"])
    rows = [(info.name, info.steps, info.branches, format_time(info.updated), info.bytes, info.title) for info in infos]
    return Printout(infos, format_table(["session", "steps", "branches", "updated", "bytes", "title"], rows))


@data_command
@session_argument
def show(session: str, store: str | None) -> Printout:
    """Show one session: its goal and title, size, branches and tokens.

    `raw tokens` is the cost of the branch's steps as they were recorded; `view tokens` is the cost of the view within
    the session's budget.
    """
    import ctxfold

    with open_existing(session, store) as opened:
        view, branch, tip = opened.view(), opened.branch_name, opened.tip
    info = next(info for info in ctxfold.sessions(store) if info.name == session)
    costs = {"raw_tokens": view.unfolded, "view_tokens": view.tokens, "budget": view.budget}
    facts = {**asdict(info), "branch": branch, "tip": tip, **costs}
    shown = facts | {"tip": f"s{tip}", "created": format_time(info.created), "updated": format_time(info.updated)}
    texts = {name: f"{value:,}" if isinstance(value, int) else " ".join(value.split()) for name, value in shown.items()}
    return Printout(facts, [f"{name.replace('_', ' '):<16}{text}" for name, text in texts.items()])


@data_command
@session_argument
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def export(session: str, file: Path | None, force: bool, store: str | None) -> Printout:
    """Write a session to a file, SESSION.jsonl if none is named.

    The file holds everything: the log, the folds, the branches. `ctxfold sessions import` reads it back.
    """
    import ctxfold

    target = file or Path(f"{session}.jsonl")
    if target.exists() and not force:
        raise InputError(f"{target} is there already: name another file, or add --force")
    open_existing(session, store).close()
    ctxfold.export_session(session, target, store=store)
    return Printout({"session": session, "file": str(target)}, notes=[f"wrote {session} to {target}"])


def transcript_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add FILE, `--from`, `--latest` and `--name` to a command. It receives the session's `name` and its `source`: a
    transcript with `--from`, else the file. Raises InputError: an unknown host, no file, or a file and `--latest`.
    """

    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
    @click.option("--from", "host", metavar="HOST", help="Who wrote it: claude-code, codex, gemini, opencode or pi.")
    @click.option("--latest", is_flag=True, help="With --from: the transcript that was written to last.")
    @click.option("--name", metavar="SESSION", help="The session's name; the file's or its host's own if not said.")
    @wraps(command)
    def run(file: Path | None, host: str | None, latest: bool, name: str | None, **options: Any) -> Any:
        from ctxfold.messages.files import Transcript
        from ctxfold.messages.hosts import HOSTS, find_latest, name_conversation

        if host is None:
            if latest:
                raise InputError("--latest needs --from HOST")
            return command(source=file, name=name, **options)
        if host not in HOSTS:
            raise InputError(f"no host {host!r} whose transcripts can be read: {', '.join(HOSTS)}")
        if (file is None) != latest:
            raise InputError("give the transcript's file, or --latest")
        path = file or find_latest(HOSTS[host], Path.home(), os.environ.get(HOSTS[host].variable))
        session = name or name_conversation(host, path.stem)
        return command(source=Transcript(HOSTS[host], path), name=session, **options)

    return run


@data_command
@transcript_options
def import_session(source: Path | Transcript | None, name: str | None, store: str | None) -> Printout:
    """Make a session from an export or a host's transcript.

    `--from` names the host. A transcript can be read again: entries that the session holds are skipped.
    `ctxfold record SESSION < FILE` records plain text.
    """
    import ctxfold

    if source is None:
        raise InputError("name the file to read, or --from HOST --latest")
    if isinstance(source, Path):
        name = ctxfold.import_session(source, store=store, name=name)
        about = f"made the session {name} from {source}; look at it: ctxfold log {name}"
        return Printout({"session": name}, notes=[about])
    messages = list(source.read_new())
    if not messages:
        raise InputError(f"{source.path} holds no conversation as that host writes it: name another file or host")
    with ctxfold.Session.open(name or "", store=store) as session:
        new, tip = len(session.record(messages)), session.tip
    lines = counted(source.unread, "line of it is", "lines of it are")
    left = f"; {lines} no part of the conversation" if source.unread else ""
    entries = counted(new, "new entry", "new entries")
    about = f"recorded {entries} in {name}, which now ends at s{tip}{left}; look at it: ctxfold log {name}"
    return Printout({"session": name, "new": new, "tip": tip, "unread": source.unread}, notes=[about])


@data_command
@session_argument
@yes_option
def delete(session: str, yes: bool, store: str | None) -> Printout:
    """Delete a session and what only it holds, for good."""
    import ctxfold

    with open_existing(session, store) as opened:
        tip = opened.tip
    confirm(f"Delete {session} (newest step s{tip}) for good?", yes)
    ctxfold.delete_session(session, store=store)
    return Printout({"session": session}, notes=[f"deleted {session}"])


@data_command
@session_argument
@click.argument("new", metavar="NEW")
def handoff(session: str, new: str, store: str | None) -> Printout:
    """Begin the session NEW with the memory of SESSION: its view, goal, plan, constraints and decisions.

    Another host then opens NEW, and what SESSION holds is still recalled from there by its name.
    """
    with open_existing(session, store) as opened:
        if not opened.hand_off(new):
            raise InputError(f"{new} has steps already: name a session that is not there yet")
    return Printout({"session": new, "from": session}, notes=[f"{new} begins with the memory of {session}"])


@click.group()
def sessions() -> None:
    """List, show, export, import, hand over and delete sessions."""


_GROUP = {"list": list_sessions, "show": show, "export": export, "import": import_session, "delete": delete}
_GROUP |= {"handoff": handoff}
for _name, _command in _GROUP.items():
    sessions.add_command(_command, _name)


@click.command()
@transcript_options
@click.option("--every", type=click.FloatRange(0.05), default=0.5, metavar="SECONDS", help="How often to look; 0.5.")
@click.option("--idle", type=click.FloatRange(0), metavar="SECONDS", help="End when nothing new came for so long.")
@store_option
def follow(source: Path | Transcript | None, name: str, every: float, idle: float | None, store: str | None) -> None:
    """Record a host's transcript as it grows: `ctxfold follow --from claude-code --latest`.

    Nothing is sent to the host, and nothing leaves this machine. What was recorded before is not recorded again.
    """
    import ctxfold

    if source is None or isinstance(source, Path):
        raise InputError("say who writes the transcript: --from claude-code")
    with ctxfold.Session.open(name, store=store) as session:
        click.echo(f"following {source.path} into {session.name}", err=True)
        quiet = 0.0
        while idle is None or quiet < idle:
            new = len(session.record(source.read_new()))
            if new:
                click.echo(f"s{session.tip}: {counted(new, 'new entry', 'new entries')}", err=True)
            quiet = 0.0 if new else quiet + every
            time.sleep(every)


PIPED = "-"
"""The option value that reads standard input."""

LARGEST = 64 << 20
"""The most that is read from standard input, in bytes."""


@data_command
@session_argument
@click.option("--user", metavar="TEXT", help="A message of the user's; - reads it from standard input.")
@click.option("--reply", metavar="TEXT", help="The assistant's answer; - reads it from standard input.")
@click.option("--step", metavar="JSON", help="Whole steps, one JSON object a line; - reads them from standard input.")
@click.option("--call", default="stdin", show_default=True, metavar="NAME", help="What gave the text that is piped in.")
@click.option("--goal", metavar="TEXT", help="What the session is for, when it is new.")
@tools_option
@rules_option
def record(session: str, call: str, goal: str | None, store: str | None, tools: Any, **given: str | None) -> Printout:
    """Record text in a session's log, and make the session if there is none.

    Without an option, standard input is recorded as a tool's result: `make test | ctxfold record work --call "make
    test"`. A step is {"explanation": "…", "calls": [{"name", "args", "id"}], "results": [{"id", "text"}], "found":
    "…"}. Rules and tools may be given alone. Nothing is folded. The numbers of the steps are printed.
    """
    import ctxfold
    from ctxfold.config import rules_file

    texts = {name: _read_pipe() if text == PIPED else text for name, text in given.items() if text is not None}
    if len(texts) > 1:
        raise InputError("one thing at a time: give --user, --reply or --step, or pipe a text in")
    steps = _read_steps(texts["step"]) if "step" in texts else []
    piped = "" if texts else _read_pipe(is_needed=tools is None and rules_file() is None)
    if piped:
        result = {"id": "c1", "text": piped}
        steps = [{"calls": [{"name": call, "args": {}, "id": "c1"}], "results": [result]}]
    with ctxfold.Session.open(session, goal=goal, store=store, tools=tools) as opened:
        notes = [f"new session {session}"] if opened.created else []
        refs: list[Any] = [opened.record_step(**step) for step in steps]
        refs += [opened.record_turn(texts["user"])] if "user" in texts else []
        refs += [opened.record_reply(texts["reply"])] if "reply" in texts else []
    numbers = [ref.step for ref in refs]
    return Printout({"session": session, "steps": numbers}, [f"s{number}" for number in numbers], notes=notes)


def _read_pipe(*, is_needed: bool = True) -> str:
    """The text on standard input. Raises InputError: none is there and one is needed, it is too long, or not UTF-8."""
    if sys.stdin.isatty():
        if not is_needed:
            return ""
        raise InputError("nothing is piped in: ctxfold record SESSION < file, or give --user, --reply or --step")
    raw = sys.stdin.buffer.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(f"standard input is longer than {LARGEST >> 20} MB: record it in parts, one step each")
    if not raw and is_needed:
        raise InputError("standard input is empty: nothing was recorded")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8 text (byte {error.start}): convert it first") from error


_STEP = {"explanation", "calls", "results", "found"}


def _read_steps(text: str) -> Sequence[Mapping[str, Any]]:
    """The steps of JSON lines, or of one object or array over several lines. All are recorded in memory first, so that
    none is kept where one is refused.
    """
    import ctxfold
    from ctxfold.text.json import read_values

    try:
        steps = read_values(text)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno} is not JSON ({error.msg}): give one step a line") from error
    if not steps:
        raise InputError("there is no step in that: nothing was recorded")
    with ctxfold.Session.open("trial", store=":memory:") as trial:
        for number, step in enumerate(steps, start=1):
            if not isinstance(step, dict) or not step or step.keys() - _STEP:
                raise InputError(f"step {number} is not an object of {', '.join(sorted(_STEP))}")
            try:
                trial.record_step(**step)
            except CtxfoldError as error:
                raise InputError(f"step {number}: {error}") from error
    return steps


@session_command
@click.argument("what", metavar="REF_OR_PATTERN")
@yes_option
def redact(session: Session, what: str, yes: bool) -> Printout:
    """Blank text for good, in the log and in everything made from it.

    A ref blanks its records. A regular expression blanks all its matches, in common encodings too. A mark of the same
    length replaces the text; a branch, topic or session of a matching name is renamed. This cannot be undone, and is
    logged.
    """
    confirm(f"Blank {what!r} in {session.name} for good?", yes)
    before = session.name
    redacted = session.redact(what)
    done = f"blanked {counted(redacted.bytes, 'byte')} in {counted(redacted.records, 'record')} of {session.name}"
    if redacted.names:
        done += f", and called {counted(redacted.names, 'branch or topic', 'branches and topics')} otherwise"
    lines = [done]
    if session.name != before:
        lines.append(f"the session's name held it: it is called {session.name} now")
    return Printout(redacted, lines, notes=[f"not reached: {'; '.join(redacted.left)}"])
