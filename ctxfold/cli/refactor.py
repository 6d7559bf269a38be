"""`ctxfold refactor`: mends a view that went bad and prints what changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import model_option, session_command
from ctxfold.cli.output import escape_controls, print_json, print_text, show_note
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Refactored, Session

__all__ = ["refactor"]

_OPERATORS = "state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting or attention_anchor; auto lets the router choose, or none."


@session_command
@click.option("--operator", default="auto", show_default=True, metavar="NAME", help=_OPERATORS)
@click.option("--text", help="What the operator puts in place; the embedded rules write it if not said.")
@model_option
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def refactor(session: Session, operator: str, text: str | None, model: str | None, dry_run: bool, as_json: bool) -> int:
    """Mend the view of a session that went bad.

    The log keeps everything; `ctxfold undo` takes a refactoring back. What does not pass its checks is not applied: the command ends with 1 and
    says why. Without a model the router looks for exact repetition and the high-water mark alone, and leaves a healthy history as it is.
    """
    if text is None and not dry_run:
        done = _decide(session, operator, model)
    elif model is None:
        done = session.refactor(operator, text, dry_run=dry_run)
    else:
        raise InputError("a model writes its own text: leave --text and --dry-run out, or leave --model out")
    if as_json:
        print_json({**asdict(done), "diff": done.diff, "dry_run": dry_run})
    elif done.operator == "none":
        click.echo(f"left alone: {done.reason}")
    elif done.refused:
        click.echo(f"{done.operator} refused, nothing changed: {done.why}", err=True)
    else:
        before, after = done.tokens
        what = f"{'would apply' if dry_run else 'applied'} {done.operator}: {done.reason}"
        click.echo(escape_controls(f"{what}; view {before:,} tokens before, {after:,} after"))
        print_text(done.diff)
    return int(done.refused)


def _decide(session: Session, operator: str, model: str | None) -> Refactored:
    """What a model routes and writes, where one is named or set; else what the embedded router and operators do."""
    import anyio

    from ctxfold.decisions.refactor.values import OPERATORS
    from ctxfold.models import helpers
    from ctxfold.models.deciders import Deciders

    named = next((each for each in OPERATORS if each == operator), None)
    if named is None and operator != "auto":
        raise InputError(f"{operator!r} is no operator; use auto or one of {', '.join(OPERATORS)}")
    decided = anyio.run(Deciders(helpers(model)).refactor, session, named)
    show_note(decided.note)
    return decided.made
