"""`ctxfold switch`: go to another branch of a session."""

from __future__ import annotations

import click

from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json

__all__ = ["switch"]


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
