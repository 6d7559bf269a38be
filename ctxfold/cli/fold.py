"""`ctxfold fold`: one block in place of some steps."""

from __future__ import annotations

import click

from ctxfold.cli.options import existing, json_option, model_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json, show_note
from ctxfold.errors import InputError

__all__ = ["fold"]


@click.command()
@session_argument
@click.option("--first", metavar="STEP", help="The first step; the last alone if not said.")
@click.option("--last", metavar="STEP", help="The last step; the latest if not said.")
@click.option(
    "--summary", metavar="TEXT", help="What replaces the steps; the model or the embedded folder writes it if not said."
)
@model_option
@json_option
@store_option
def fold(
    session: str,
    first: str | None,
    last: str | None,
    summary: str | None,
    model: str | None,
    as_json: bool,
    store: str | None,
) -> None:
    """Fold steps of a session into one block.

    The user's words and facts that later steps point at stay beside the summary; the log keeps everything, and `ctxfold undo` takes a fold back.
    """
    import anyio

    from ctxfold.log.refs import parse_step
    from ctxfold.models import folder
    from ctxfold.models.deciders import Deciders
    from ctxfold.workspace.workspace import spans

    if summary is not None and model is not None:
        raise InputError("a model writes its own summary: leave --summary out, or leave --model out")
    start, end = (None if step is None else parse_step(step) for step in (first, last))
    with existing(session, store) as opened:
        if summary is not None:
            tile = opened.fold(summary, start, end)
        else:
            decided = anyio.run(Deciders(folder(model)).fold, opened, start, end)
            show_note(decided.note)
            tile = decided.made
    if as_json:
        print_json(tile)
        return
    click.echo(harmless(f"{tile.id} stands for {spans(tile.steps)}: {tile.raw} tokens before, {tile.tokens} after"))
