"""`ctxfold branch` and `ctxfold switch`: begin, rename and change branches and topics, or list those that a message is like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import escape_controls, format_place, print_json, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.decisions.branch.values import Move, Wish
    from ctxfold.workspace.forest import Action

__all__ = ["branch", "switch"]


@session_command
@click.argument("name", required=False)
@click.option("--at", metavar="STEP", help="The last step the new branch keeps; the end of this branch if not said.")
@click.option("--query", metavar="MESSAGE", help="List the branches, those most like the message first; nothing moves.")
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
        raise InputError("--query only lists branches: leave NAME and --at out")
    if at and (topic or rename):
        raise InputError("--at says where a new branch turns off: leave it out beside --topic and --rename")
    if rename and name is None:
        raise InputError("--rename needs the new NAME: ctxfold branch SESSION NAME --rename")
    action: Wish = "auto" if query is not None else "new_topic" if topic else "rename" if rename else "create"
    moved = session.branch(action, None, at, name) if query is None else _place(session, query, model)
    _show(session.name, moved, as_json)


def _place(session: Session, message: str, model: str | None) -> Move:
    """Where a model places a message, where one is named or set; else the branches ranked by likeness."""
    import anyio

    from ctxfold.models import helpers
    from ctxfold.models.deciders import Deciders

    decided = anyio.run(Deciders(helpers(model)).branch, session, message)
    show_note(decided.note)
    return decided.made


@session_command
@click.argument("name", required=False)
@click.option("--query", metavar="MESSAGE", help="List the branches, those most like the message first; nothing moves.")
def switch(session: Session, name: str | None, query: str | None, as_json: bool) -> None:
    """Go to the branch NAME of a session, in whichever topic it stands.

    What is recorded and shown next is of that branch; `ctxfold tree` shows them all.
    """
    if (name is None) == (query is None):
        raise InputError(
            "give either the NAME of a branch to go to, or --query to see which branches a message is like"
        )
    moved = session.branch("switch", to=name) if query is None else session.branch("auto", query)
    _show(session.name, moved, as_json)


def _show(session: str, moved: Move, as_json: bool) -> None:
    if as_json:
        print_json(moved)
        return
    for each in moved.ranked:
        said = each.said if len(each.said) <= _SAID else f"{each.said[:_SAID]}…"
        click.echo(escape_controls(f"{each.score:.2f}  {each.name}  {said}"))
    why = f" ({moved.reason})" if moved.reason else ""
    where = format_place(moved.branch, moved.tip, moved.topic)
    click.echo(escape_controls(f"{_DONE[moved.action]}{why}: {where}"))
    if moved.ranked:
        click.echo(f"to go to another: ctxfold switch {session} NAME", err=True)


_DONE: dict[Action, str] = {
    "continue": "nothing moved",
    "create": "new branch",
    "switch": "switched",
    "new_topic": "new topic",
    "rename": "renamed",
}


_SAID = 80
"""Characters of a branch's last message that a line shows."""
