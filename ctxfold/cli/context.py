"""`ctxfold context`: prints the view of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import budget_option, session_command
from ctxfold.cli.output import is_terminal, print_json, print_text

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["context"]

_SHOWN = ("text", "messages", "stable", "tokens", "refs", "budget", "unfolded")


@session_command
@budget_option
def context(session: Session, budget: int, as_json: bool) -> None:
    """Print a session's context as a model would read it.

    The view never takes more than its budget: what does not fit stands in a shorter form that carries its ref. Looking changes nothing.
    """
    view = session.view(budget)
    if as_json:
        print_json({name: getattr(view, name) for name in _SHOWN})
        return
    print_text(view.text)
    if is_terminal():
        click.echo(f"tokens: view {view.tokens:,} of {view.budget:,}, raw {view.unfolded:,}", err=True)
