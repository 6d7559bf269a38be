"""`ctxfold undo` and `ctxfold redo`: void the newest decision, or void the last undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import escape_controls, format_place, print_json

if TYPE_CHECKING:
    from ctxfold import Event, Session

__all__ = ["redo", "undo"]


@session_command
def redo(session: Session, as_json: bool) -> None:
    """Void the last undo of a session: the decision stands again."""
    _print_event(session, "redone", session.redo(), as_json)


@session_command
def undo(session: Session, as_json: bool) -> None:
    """Void the newest decision of a session, such as a fold or a fork.

    Never a record: what was folded comes back raw, and a branch that was made stays. Undo again to go one decision further back; `ctxfold redo` voids the undo.
    """
    _print_event(session, "undone", session.undo(), as_json)


def _print_event(session: Session, done: str, event: Event, as_json: bool) -> None:
    if as_json:
        print_json(event)
        return
    click.echo(escape_controls(f"{done}: {event.about}; {format_place(session.branch_name, session.tip)}"))
    if event.kind == "moved" and not event.standing:
        click.echo(
            f"{event.branch} stays, with what was recorded on it: ctxfold switch {session.name} {event.branch}",
            err=True,
        )
