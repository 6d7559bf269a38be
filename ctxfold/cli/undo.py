"""`ctxfold undo` and `ctxfold redo`: void the newest decision, or void the last undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.log import format_steps
from ctxfold.cli.options import session_command
from ctxfold.cli.output import print_json

if TYPE_CHECKING:
    from ctxfold import Event, Session

__all__ = ["redo", "undo"]


@session_command
def redo(session: Session, as_json: bool) -> None:
    """Void the last undo of a session: the decision stands again."""
    _print_event("redone", session.redo(), as_json)


@session_command
def undo(session: Session, as_json: bool) -> None:
    """Void the newest decision of a session, such as a fold or a fork.

    Never a record: what was folded comes back raw. Undo again to go one decision further back; `ctxfold redo` voids the undo.
    """
    _print_event("undone", session.undo(), as_json)


def _print_event(done: str, event: Event, as_json: bool) -> None:
    if as_json:
        print_json(event)
        return
    click.echo(f"{done} on {event.branch}: {' '.join([event.cause, format_steps(event.steps)]).strip()}")
