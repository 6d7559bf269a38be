"""`ctxfold context`: what a model would read of a session."""

from __future__ import annotations

import click

from ctxfold.cli.options import budget_option, existing, json_option, session_argument, store_option
from ctxfold.cli.output import on_terminal, print_json, print_text

__all__ = ["context"]


@click.command()
@session_argument
@budget_option
@json_option
@store_option
def context(session: str, budget: int, as_json: bool, store: str | None) -> None:
    """Print a session's context as a model would read it.

    The view never takes more than its budget: what does not fit stands in a shorter form that carries its ref. Looking changes nothing.
    """
    with existing(session, store) as opened:
        view = opened.view(budget)
    if as_json:
        print_json(view)
        return
    print_text(view.text)
    if on_terminal():
        click.echo(f"{view.tokens:,} of {view.budget:,} tokens; the whole log would take {view.unfolded:,}", err=True)
