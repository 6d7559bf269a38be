"""`ctxfold todo`: prints and writes a session's to-do, constraints and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import escape_controls, print_json, show_note

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["todo"]


@session_command
@click.option("--plan", is_flag=True, help="Let a model write it from what was said and done since the last plan.")
@model_option
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
def todo(
    session: Session,
    plan: bool,
    model: str | None,
    summary: str | None,
    added: tuple[str, ...],
    done: tuple[str, ...],
    drop: tuple[str, ...],
    constraints: tuple[str, ...],
    decisions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show a session's to-do, constraints and decisions; write them.

    None is ever lost; `ctxfold undo` takes what was written back.
    """
    from ctxfold.decisions.intent.plan import statements_of

    entries: list[str | dict[str, str]] = [*added]
    entries += [_close(entry, "done") for entry in done]
    entries += [_close(entry, "dropped") for entry in drop]
    held, settled = statements_of(constraints, "c"), statements_of(decisions, "d")
    if summary is not None or entries or held or settled:
        session.plan(summary, entries, held, settled)
    elif plan:
        _plan(session, model)
    intent = session.intent
    if as_json:
        print_json(intent)
        return
    for item in intent.items:
        shown = f"  [{' '.join(item.evidence)}]" if item.evidence else ""
        click.echo(escape_controls(f"{item.id}  {item.state:<7}  {' '.join(item.text.split())}{shown}"))
    for each in (*intent.constraints, *intent.decisions):
        state = f"superseded by {each.superseded_by}" if each.superseded_by else "lifted" if each.lifted else "holds"
        click.echo(
            escape_controls(
                f"{each.id}  {state:<7}  {' '.join(each.text.split())}{f'  [{each.ref}]' if each.ref else ''}"
            )
        )
    if not (intent.items or intent.constraints or intent.decisions):
        click.echo(
            f"nothing is written for {session.name}: give --add, --constraint or --decision with its words", err=True
        )


def _plan(session: Session, model: str | None) -> None:
    """Plan with a model; without one nothing changes, and what to give is said."""
    import anyio

    from ctxfold.models import helpers
    from ctxfold.models.deciders import Deciders

    asked = helpers(model)
    if asked.planner is None:
        show_note("no model is set to plan with: give --add, --done, --drop, --constraint or --decision")
    show_note(anyio.run(Deciders(asked).plan, session).note)


def _close(entry: str, state: str) -> dict[str, str]:
    name, _, ref = entry.partition("=")
    return {"id": name, "state": state, **({"evidence": ref} if ref else {})}
