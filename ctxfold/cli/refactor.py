"""`ctxfold refactor`: mend a history that went bad, and show what changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import escape_controls, print_json, print_text
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Refactored, Session

__all__ = ["refactor"]

_OPERATORS = "state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting or attention_anchor; auto lets the router choose, or none."
_MODEL = "The model that routes and writes: claude-…, script:FILE; none if not said."


@session_command
@click.option("--operator", default="auto", show_default=True, metavar="NAME", help=_OPERATORS)
@click.option("--text", help="What the operator puts in place; the embedded rules write it if not said.")
@click.option("--model", metavar="NAME", help=_MODEL)
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def refactor(session: Session, operator: str, text: str | None, model: str | None, dry_run: bool, as_json: bool) -> int:
    """Mend the view of a session that went bad: loops, repeats, contradictions, lost requirements.

    The log keeps everything; `ctxfold undo` takes a refactoring back. What does not pass its checks is not applied: the command ends with 1 and
    says why. A clean history is left alone.
    """
    if model is None:
        done = session.refactor(operator, text, dry_run=dry_run)
    else:
        done = _ask_model(session, operator, model, more=text is not None or dry_run)
    if as_json:
        print_json({**asdict(done), "diff": done.diff, "dry_run": dry_run})
    elif done.operator == "none":
        click.echo(f"left alone: {done.reason}")
    elif done.refused:
        click.echo(f"{done.operator} refused, nothing changed: {done.reason}", err=True)
    else:
        before, after = done.tokens
        what = f"{'would apply' if dry_run else 'applied'} {done.operator}: {done.reason}"
        click.echo(escape_controls(f"{what}; {before} tokens before, {after} after"))
        print_text(done.diff)
    return int(done.refused)


def _ask_model(session: Session, operator: str, model: str, more: bool) -> Refactored:
    """Let a model route, or write what a named operator needs; `more` says that something was asked for beside that."""
    import anyio

    from ctxfold.decisions.refactor.values import OPERATORS
    from ctxfold.models import load
    from ctxfold.models.deciders.refactor import Mender

    if more:
        raise InputError(
            "a model writes its own text, and nobody knows it beforehand: leave --text and --dry-run out, or leave --model out"
        )
    named = next((each for each in OPERATORS if each == operator), None)
    if named is None and operator != "auto":
        raise InputError(f"{operator!r} is no operator; use auto or one of {', '.join(OPERATORS)}")
    mended = anyio.run(Mender(load(model)).mend, session, named)
    if mended.note:
        click.echo(f"note: {mended.note}", err=True)
    return mended.result
