"""`ctxfold todo`: what a session is after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import escape_controls, print_json, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["todo"]


@session_command
@click.option("--plan", is_flag=True, help="First let a model read what was said and done since the last plan.")
@model_option
@click.option("--summary", metavar="TEXT", help="Write the dialogue so far in words.")
@click.option("--add", "added", multiple=True, metavar="TEXT", help="Add an item; may be given several times.")
@click.option("--done", multiple=True, metavar="ID=REF", help="Close an item, and the ref that shows it is done.")
@click.option("--drop", multiple=True, metavar="ID=REF", help="Drop an item, and the ref of the user's words.")
def todo(
    session: Session,
    plan: bool,
    model: str | None,
    summary: str | None,
    added: tuple[str, ...],
    done: tuple[str, ...],
    drop: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show a session's to-do and the constraints that hold; plan it anew.

    Items change state by evidence: the user's words, or a call that succeeded. None is ever lost; `ctxfold undo` takes a plan back.
    """
    entries: list[str | dict[str, str]] = [*added]
    entries += [_close("--done", entry, "done") for entry in done]
    entries += [_close("--drop", entry, "dropped") for entry in drop]
    if summary is not None or entries:
        session.plan(summary, entries or None)
    elif plan:
        _plan(session, model)
    intent = session.intent
    if as_json:
        print_json(intent)
        return
    for item in intent.items:
        evidence = f"  [{' '.join(item.evidence)}]" if item.evidence else ""
        click.echo(escape_controls(f"{item.id}  {item.state:<7}  {' '.join(item.text.split())}{evidence}"))
    for each in intent.constraints:
        holds = "" if each.superseded_by is None else f"  superseded by {each.superseded_by}"
        click.echo(escape_controls(f"{each.id}  {each.ref:<7}  {' '.join(each.text.split())}{holds}"))
    if not intent.items and not intent.constraints:
        click.echo(f"nothing is planned in {session.name}: --add an item, or --plan to read what was said", err=True)


def _plan(session: Session, model: str | None) -> None:
    """Plan with a model, where one is named or set; else the embedded planner does."""
    import anyio

    from ctxfold.models import folder
    from ctxfold.models.deciders import Deciders

    show_note(anyio.run(Deciders(folder(model)).plan, session).note)


def _close(option: str, entry: str, state: str) -> dict[str, str]:
    name, _, ref = entry.partition("=")
    if not name or not ref:
        raise InputError(
            f"{option} takes ID=REF, such as t2=s12: an item of the to-do, and the ref that shows it is {state}"
        )
    return {"id": name, "state": state, "evidence": ref}
