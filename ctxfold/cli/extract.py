"""`ctxfold extract`: lines of the log that serve what a session is after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import existing, json_option, model_option, session_argument, store_option
from ctxfold.cli.output import harmless, on_terminal, print_json, show_note

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.workspace.intent import Extraction

__all__ = ["extract"]


@click.command()
@session_argument
@click.argument("lines", metavar="[REF]...", nargs=-1)
@click.option("--need", metavar="WORDS", help="What is wanted; the to-do and the latest message if not said.")
@click.option("--path", metavar="JMESPATH", help="Values of the one structured record that REF names.")
@click.option(
    "--budget", type=int, default=400, show_default=True, metavar="TOKENS", help="The most all of it may cost."
)
@model_option
@json_option
@store_option
def extract(
    session: str,
    lines: tuple[str, ...],
    need: str | None,
    path: str | None,
    budget: int,
    model: str | None,
    as_json: bool,
    store: str | None,
) -> None:
    """Put exact lines of the log at the end of the view, and print them.

    Refs such as s12:40-80 choose lines; with none, those that serve the to-do, the latest message and the constraints are found.
    """
    chosen = [{"ref": ref, **({"path": path} if path else {})} for ref in lines] or None
    with existing(session, store) as opened:
        made = opened.extract(need, chosen, budget) if chosen else _found(opened, need, budget, model)
    if as_json:
        print_json(made)
        return
    for each in made.extracts:
        text = harmless(each.text) if on_terminal() else each.text
        click.echo(f"{each.ref}{' ' + each.path if each.path else ''}\n{text}")
    for what, number in made.counts:
        click.echo(f"{number} {what}", err=True)
    if not made.extracts:
        click.echo(f"nothing in {session} serves that: try other words, or a ref", err=True)


def _found(session: Session, need: str | None, budget: int, model: str | None) -> Extraction:
    """What a model chooses, where one is named or set; else what the embedded extractor finds."""
    import anyio

    from ctxfold.models import folder
    from ctxfold.models.deciders import Deciders

    decided = anyio.run(Deciders(folder(model)).extract, session, need, budget)
    show_note(decided.note)
    return decided.made
