"""`ctxfold branch` and `ctxfold switch`: a new branch or topic, another name, where a message belongs, or another branch to stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import escape_controls, print_json, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Move, Session
    from ctxfold.session.branch import Wish

__all__ = ["branch", "switch"]


@session_command
@click.argument("name", required=False)
@click.option("--at", metavar="STEP", help="The last step the new branch keeps; the end of this branch if not said.")
@click.option("--query", metavar="MESSAGE", help="Let the message decide: go on, fork, switch, or begin a topic.")
@click.option("--topic", is_flag=True, help="Begin a topic.")
@click.option("--rename", is_flag=True, help="Give this branch the name.")
@model_option
def branch(
    session: Session,
    name: str | None,
    at: str | None,
    query: str | None,
    topic: bool,
    rename: bool,
    model: str | None,
    as_json: bool,
) -> None:
    """Make a branch of a session, called NAME.

    The new branch keeps the path up to a step and copies nothing; `ctxfold switch` goes back, `ctxfold undo` takes the move back.
    """
    if sum((topic, rename, query is not None)) > 1:
        raise InputError("--topic, --rename and --query do not go together: give one of them")
    if query is not None and (name or at):
        raise InputError("--query lets the message decide: leave NAME and --at out")
    if at and (topic or rename):
        raise InputError("--at says where a new branch turns off: leave it out beside --topic and --rename")
    if rename and name is None:
        raise InputError("--rename needs the new NAME: ctxfold branch SESSION NAME --rename")
    action: Wish = "auto" if query is not None else "new_topic" if topic else "rename" if rename else "create"
    moved = session.branch(action, None, at, name) if query is None else _place(session, query, model)
    if as_json:
        print_json(moved)
        return
    why = f": {moved.reason} ({moved.confidence:.0%} sure)" if moved.reason else ""
    click.echo(escape_controls(f"{moved.action.replace('_', ' ')}{why}; {_format_place(moved)}"))


def _place(session: Session, message: str, model: str | None) -> Move:
    """Where a model places a message, where one is named or set; else where the embedded decider does."""
    import anyio

    from ctxfold.models import folder
    from ctxfold.models.deciders import Deciders

    decided = anyio.run(Deciders(folder(model)).branch, session, message)
    show_note(decided.note)
    return decided.made


@session_command
@click.argument("name")
def switch(session: Session, name: str, as_json: bool) -> None:
    """Go to the branch NAME of a session, in whichever topic it stands.

    What is recorded and shown next is of that branch; `ctxfold tree` shows them all.
    """
    moved = session.branch("switch", to=name)
    print_json(moved) if as_json else click.echo(escape_controls(_format_place(moved)))


def _format_place(moved: Move) -> str:
    return f"on {moved.branch} of {moved.topic}, at {f's{moved.tip}' if moved.tip else 'nothing yet'}"
