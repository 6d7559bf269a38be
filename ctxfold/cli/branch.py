"""`ctxfold branch`: a new branch or topic, another name, or where a message belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import existing, json_option, model_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Move, Session
    from ctxfold.session.branch import Wish

__all__ = ["branch", "switch"]


@click.command()
@session_argument
@click.argument("name", required=False)
@click.option("--at", metavar="STEP", help="The last step the new branch keeps; the end of this branch if not said.")
@click.option("--query", metavar="MESSAGE", help="Let the message decide: go on, fork, switch, or begin a topic.")
@click.option("--topic", is_flag=True, help="Begin a topic.")
@click.option("--rename", is_flag=True, help="Give this branch the name.")
@model_option
@json_option
@store_option
def branch(
    session: str,
    name: str | None,
    at: str | None,
    query: str | None,
    topic: bool,
    rename: bool,
    model: str | None,
    as_json: bool,
    store: str | None,
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
    with existing(session, store) as opened:
        moved = opened.branch(action, None, at, name) if query is None else _placed(opened, query, model)
    if as_json:
        print_json(moved)
        return
    why = f": {moved.reason} ({moved.confidence:.0%} sure)" if moved.reason else ""
    tip = f"s{moved.tip}" if moved.tip else "nothing yet"
    click.echo(harmless(f"{moved.action.replace('_', ' ')}{why}; on {moved.branch} of {moved.topic}, at {tip}"))


def _placed(session: Session, message: str, model: str | None) -> Move:
    """Where a model places a message, where one is named or set; else where the embedded decider does."""
    import anyio

    from ctxfold.models import folder
    from ctxfold.models.deciders import Deciders

    decided = anyio.run(Deciders(folder(model)).branch, session, message)
    show_note(decided.note)
    return decided.made


@click.command()
@session_argument
@click.argument("name")
@json_option
@store_option
def switch(session: str, name: str, as_json: bool, store: str | None) -> None:
    """Go to the branch NAME of a session, in whichever topic it stands.

    What is recorded and shown next is of that branch; `ctxfold tree` shows them all.
    """
    with existing(session, store) as opened:
        moved = opened.branch("switch", to=name)
    if as_json:
        print_json(moved)
        return
    click.echo(harmless(f"on {moved.branch} of {moved.topic}, at {f's{moved.tip}' if moved.tip else 'nothing yet'}"))
