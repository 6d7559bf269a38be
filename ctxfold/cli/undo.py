"""`ctxfold undo`: void the newest decision."""

from __future__ import annotations

import click

from ctxfold.cli.log import steps_of
from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import print_json

__all__ = ["redo", "undo"]


@click.command()
@session_argument
@json_option
@store_option
def redo(session: str, as_json: bool, store: str | None) -> None:
    """Void the last undo of a session: the decision stands again."""
    with existing(session, store) as opened:
        event = opened.redo()
    if as_json:
        print_json(event)
        return
    click.echo(f"redone on {event.branch}: {' '.join([event.cause, steps_of(event.steps)]).strip()}")


@click.command()
@session_argument
@json_option
@store_option
def undo(session: str, as_json: bool, store: str | None) -> None:
    """Void the newest decision of a session, such as a fold or a fork.

    Never a record: what was folded comes back raw. Undo again to go one decision further back; `ctxfold redo` voids the undo.
    """
    with existing(session, store) as opened:
        event = opened.undo()
    if as_json:
        print_json(event)
        return
    click.echo(f"undone on {event.branch}: {' '.join([event.cause, steps_of(event.steps)]).strip()}")
