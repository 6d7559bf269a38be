"""`ctxfold extract`: puts lines of the log at the end of the view and prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import print_json, print_text, show_note

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.workspace.intent import Extraction

__all__ = ["extract"]


@session_command
@click.argument("lines", metavar="[REF]...", nargs=-1)
@click.option("--need", metavar="WORDS", help="What is wanted; the to-do and the latest message if not said.")
@click.option("--path", metavar="JMESPATH", help="Values of the one structured record that REF names.")
@click.option("--budget", type=int, default=400, show_default=True, metavar="TOKENS", help="The most all may cost.")
@model_option
def extract(
    session: Session,
    lines: tuple[str, ...],
    need: str | None,
    path: str | None,
    budget: int,
    model: str | None,
    as_json: bool,
) -> None:
    """Put exact lines of the log at the end of the view, and print them.

    Refs such as s12:40-80 choose lines; with none, those that serve the to-do, the latest message and the constraints are found.
    """
    chosen = [{"ref": ref, **({"path": path} if path else {})} for ref in lines]
    made = session.extract(need, chosen, budget) if chosen else _find(session, need, budget, model)
    if as_json:
        print_json(made)
        return
    for each in made.extracts:
        print_text(f"{each.ref}{' ' + each.path if each.path else ''}\n{each.text}")
    for what, number in made.counts:
        click.echo(f"{number} {what}", err=True)
    if not made.extracts:
        click.echo(f"nothing in {session.name} serves that: try other words, or a ref", err=True)


def _find(session: Session, need: str | None, budget: int, model: str | None) -> Extraction:
    """What a model chooses, where one is named or set; else what the embedded extractor finds."""
    import anyio

    from ctxfold.models import helpers
    from ctxfold.models.deciders import Deciders

    decided = anyio.run(Deciders(helpers(model)).extract, session, need, budget)
    show_note(decided.note)
    return decided.made
