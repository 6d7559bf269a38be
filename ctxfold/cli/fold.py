"""`ctxfold fold`: puts one tile in place of some steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import escape_controls, print_json, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["fold"]


@session_command
@click.option("--first", metavar="STEP", help="The first step; the last alone if not said.")
@click.option("--last", metavar="STEP", help="The last step; the latest if not said.")
@click.option(
    "--summary", metavar="TEXT", help="What replaces the steps; the model or the embedded folder writes it if not said."
)
@model_option
def fold(
    session: Session,
    first: str | None,
    last: str | None,
    summary: str | None,
    model: str | None,
    as_json: bool,
) -> None:
    """Fold steps of a session into one block.

    The user's words and facts that later steps point at stay beside the summary; the log keeps everything, and `ctxfold undo` takes a fold back.
    """
    import anyio

    from ctxfold.log.refs import parse_step
    from ctxfold.models import helpers
    from ctxfold.models.deciders import Deciders
    from ctxfold.workspace.workspace import spans

    if summary is not None and model is not None:
        raise InputError("a model writes its own summary: leave --summary out, or leave --model out")
    start, end = (None if step is None else parse_step(step) for step in (first, last))
    if summary is not None:
        tile = session.fold(summary, start, end)
    else:
        decided = anyio.run(Deciders(helpers(model)).fold, session, start, end)
        show_note(decided.note)
        tile = decided.made
    if as_json:
        print_json(tile)
        return
    click.echo(escape_controls(f"{tile.id} stands for {spans(tile.steps)}: {tile.tokens:,} tokens, raw {tile.raw:,}"))
