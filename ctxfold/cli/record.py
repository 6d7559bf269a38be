"""`ctxfold record`: records text from standard input or the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from ctxfold.cli.options import json_option, session_argument, store_option
from ctxfold.cli.output import print_json
from ctxfold.errors import CtxfoldError, InputError

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["record"]

PIPED = "-"
"""The value of an option that stands for standard input."""

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
    """Take text into a session's log, which is made if it is not there.

    With no option, standard input is recorded as what a tool gave: `make test | ctxfold record work --call "make
    test"`. A step is {"explanation": "…", "calls": [{"name", "args", "id"}], "results": [{"id", "text"}], "found": "…"}.
    Nothing is folded. The numbers of the steps are printed.
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
    from ctxfold.text.strict_json import read_values

    try:
        steps = read_values(text)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno} is not JSON ({error.msg}): give one step a line") from error
    if not steps:
        raise InputError("there is no step in that: nothing was recorded")
    return [_check_step(one, number) for number, one in enumerate(steps, start=1)]


def _check_step(value: object, number: int) -> Mapping[str, Any]:
    """A step as `Session.record_step` takes it: whole, so that of several none is recorded where one is refused."""
    from ctxfold.session.record import drafts
    from ctxfold.session.validate import as_calls, as_results, as_text

    names = {"explanation", "calls", "results", "found"}
    if not isinstance(value, dict) or not value or set(value) - names:
        raise InputError(f"step {number} is not an object of {', '.join(sorted(names))}")
    calls, results = value.get("calls", []), value.get("results", [])
    if not isinstance(calls, list) or not isinstance(results, list):
        raise InputError(f"step {number} needs its calls and results as arrays: [{{...}}]")
    try:
        drafts(
            as_text(value.get("explanation", "")), as_calls(calls), as_results(results), as_text(value.get("found", ""))
        )
    except CtxfoldError as error:
        raise InputError(f"step {number}: {error}") from error
    return value
