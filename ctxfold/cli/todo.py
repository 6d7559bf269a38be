"""`ctxfold todo`: what a session is after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import existing, json_option, model_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["todo"]


@click.command()
@session_argument
@click.option("--plan", is_flag=True, help="First let a model read what was said and done since the last plan.")
@model_option
@click.option("--summary", metavar="TEXT", help="Write the dialogue so far in words.")
@click.option("--add", "added", multiple=True, metavar="TEXT", help="Add an item; may be given several times.")
@click.option("--done", multiple=True, metavar="ID=REF", help="Close an item, and the ref that shows it is done.")
@click.option("--drop", multiple=True, metavar="ID=REF", help="Drop an item, and the ref of the user's words.")
@json_option
@store_option
def todo(
    session: str,
    plan: bool,
    model: str | None,
    summary: str | None,
    added: tuple[str, ...],
    done: tuple[str, ...],
    drop: tuple[str, ...],
    as_json: bool,
    store: str | None,
) -> None:
    """Show a session's to-do and the constraints that hold; plan it anew.

    Items change state by evidence: the user's words, or a call that succeeded. None is ever lost; `ctxfold undo` takes a plan back.
    """
    entries: list[str | dict[str, str]] = [*added]
    entries += [_closed("--done", entry, "done") for entry in done]
    entries += [_closed("--drop", entry, "dropped") for entry in drop]
    with existing(session, store) as opened:
        if summary is not None or entries:
            opened.plan(summary, entries or None)
        elif plan:
            _plan(opened, model)
        intent = opened.intent
    if as_json:
        print_json(intent)
        return
    for item in intent.items:
        shown = f"  [{' '.join(item.evidence)}]" if item.evidence else ""
        click.echo(harmless(f"{item.id}  {item.state:<7}  {' '.join(item.text.split())}{shown}"))
    for each in intent.constraints:
        holds = "" if each.superseded_by is None else f"  superseded by {each.superseded_by}"
        click.echo(harmless(f"{each.id}  {each.ref:<7}  {' '.join(each.text.split())}{holds}"))
    if not intent.items and not intent.constraints:
        click.echo(f"nothing is planned in {session}: add --plan to read what was said and done", err=True)


def _plan(session: Session, model: str | None) -> None:
    """Plan with a model, where one is named or set; else the embedded planner does."""
    import anyio

    from ctxfold.models import folder
    from ctxfold.models.deciders import Deciders

    show_note(anyio.run(Deciders(folder(model)).plan, session).note)


def _closed(option: str, entry: str, state: str) -> dict[str, str]:
    name, _, ref = entry.partition("=")
    if not name or not ref:
        raise InputError(
            f"{option} takes ID=REF, such as t2=s12: an item of the to-do, and the ref that shows it is {state}"
        )
    return {"id": name, "state": state, "evidence": ref}
