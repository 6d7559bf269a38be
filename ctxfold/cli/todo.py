"""`ctxfold todo`: the register of a session: to-do, constraints and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["todo"]


@click.command()
@session_argument
@click.option(
    "--plan", is_flag=True, help="Let the folder's model write it from what was said and done since the last plan."
)
@click.option("--summary", metavar="TEXT", help="Write the dialogue so far in words.")
@click.option("--add", "added", multiple=True, metavar="TEXT", help="Add an item; may be given several times.")
@click.option("--done", multiple=True, metavar="ID[=REF]", help="Close an item, with the ref that shows it is done.")
@click.option("--drop", multiple=True, metavar="ID[=REF]", help="Drop an item, with the ref of the user's words.")
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="[ID=]TEXT",
    help="Add what must hold; ID=TEXT replaces one, ID= lifts it.",
)
@click.option("--decision", "decisions", multiple=True, metavar="[ID=]TEXT", help="Add what was decided; ID as above.")
@json_option
@store_option
def todo(
    session: str,
    plan: bool,
    summary: str | None,
    added: tuple[str, ...],
    done: tuple[str, ...],
    drop: tuple[str, ...],
    constraints: tuple[str, ...],
    decisions: tuple[str, ...],
    as_json: bool,
    store: str | None,
) -> None:
    """Show a session's to-do, constraints and decisions; write them.

    None is ever lost; `ctxfold undo` takes what was written back.
    """
    from ctxfold.decisions.intent.plan import statements_of

    entries: list[str | dict[str, str]] = [*added]
    entries += [_closed(entry, "done") for entry in done]
    entries += [_closed(entry, "dropped") for entry in drop]
    held, settled = statements_of(constraints, "c"), statements_of(decisions, "d")
    with existing(session, store) as opened:
        if summary is not None or entries or held or settled:
            opened.plan(summary, entries, held, settled)
        elif plan:
            _plan(opened)
        intent = opened.intent
    if as_json:
        print_json(intent)
        return
    for item in intent.items:
        shown = f"  [{' '.join(item.evidence)}]" if item.evidence else ""
        click.echo(harmless(f"{item.id}  {item.state:<7}  {' '.join(item.text.split())}{shown}"))
    for each in (*intent.constraints, *intent.decisions):
        state = f"superseded by {each.superseded_by}" if each.superseded_by else "lifted" if each.lifted else "holds"
        click.echo(
            harmless(f"{each.id}  {state:<7}  {' '.join(each.text.split())}{f'  [{each.ref}]' if each.ref else ''}")
        )
    if not (intent.items or intent.constraints or intent.decisions):
        click.echo(f"nothing is written for {session}: give --add, --constraint or --decision with its words", err=True)


def _plan(session: Session) -> None:
    """Plan with the folder's model; without one nothing changes, and what to give is said."""
    import anyio

    from ctxfold.models import folder
    from ctxfold.models.deciders.intent import Attendant

    model = folder()
    if model is None:
        click.echo(
            "note: no model is set to plan with: give --add, --done, --drop, --constraint or --decision", err=True
        )
    for note in anyio.run(Attendant(model).plan, session).notes:
        click.echo(f"note: {note}", err=True)


def _closed(entry: str, state: str) -> dict[str, str]:
    name, _, ref = entry.partition("=")
    return {"id": name, "state": state, **({"evidence": ref} if ref else {})}
