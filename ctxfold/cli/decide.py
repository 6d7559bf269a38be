"""The commands that change a session's view: fold, todo, extract, refactor, branch, switch, undo, redo."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ctxfold.cli.options import (
    escape_controls,
    format_place,
    model_option,
    print_json,
    print_text,
    session_command,
    show_note,
)
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Event, Session
    from ctxfold.decisions.refactor import Operator
    from ctxfold.session.branches import Move, Wish
    from ctxfold.workspace import Action


def ask_decider(model: str | None, decision: str, session: Session, *arguments: object) -> Any:
    """Make and apply a decision, by the model that is named or set, else by the embedded decider.
    Returns its result.
    """
    import anyio

    from ctxfold.models import helpers
    from ctxfold.models.deciders import Deciders

    decided = anyio.run(getattr(Deciders(helpers(model)), decision), session, *arguments)
    show_note(decided.note)
    return decided.made


@session_command
@click.argument("name", required=False)
@click.option("--at", metavar="STEP", help="The last step the new branch keeps; the end of this branch if not said.")
@click.option("--query", metavar="MESSAGE", help="List the branches, those most like the message first; nothing moves.")
@click.option("--topic", is_flag=True, help="Begin a topic.")
@click.option("--rename", is_flag=True, help="Give this branch the name.")
@model_option
def branch(
    session: Session,
    name: str | None,
    at: str | None,
    query: str | None,
    topic: bool,
    rename: bool,
    model: str | None,
    as_json: bool,
) -> None:
    """Make a branch of a session, called NAME.

    The new branch keeps the path up to a step and copies nothing; `ctxfold switch` goes back, `ctxfold undo` takes the
    move back.
    """
    if sum((topic, rename, query is not None)) > 1:
        raise InputError("--topic, --rename and --query do not go together: give one of them")
    if query is not None and (name or at):
        raise InputError("--query only lists branches: leave NAME and --at out")
    if at and (topic or rename):
        raise InputError("--at says where a new branch turns off: leave it out beside --topic and --rename")
    if rename and name is None:
        raise InputError("--rename needs the new NAME: ctxfold branch SESSION NAME --rename")
    action: Wish = "auto" if query is not None else "new_topic" if topic else "rename" if rename else "create"
    moved = session.branch(action, None, at, name) if query is None else ask_decider(model, "branch", session, query)
    _show(session.name, moved, as_json)


@session_command
@click.argument("name", required=False)
@click.option("--query", metavar="MESSAGE", help="List the branches, those most like the message first; nothing moves.")
def switch(session: Session, name: str | None, query: str | None, as_json: bool) -> None:
    """Go to the branch NAME of a session, whatever its topic.

    What is recorded and shown next is of that branch; `ctxfold tree` shows them all.
    """
    if (name is None) == (query is None):
        raise InputError(
            "give either the NAME of a branch to go to, or --query to see which branches a message is like"
        )
    moved = session.branch("switch", to=name) if query is None else session.branch("auto", query)
    _show(session.name, moved, as_json)


def _show(session: str, moved: Move, as_json: bool) -> None:
    if as_json:
        print_json(moved)
        return
    for each in moved.ranked:
        said = each.said if len(each.said) <= _SAID else f"{each.said[:_SAID]}…"
        click.echo(escape_controls(f"{each.score:.2f}  {each.name}  {said}"))
    why = f" ({moved.reason})" if moved.reason else ""
    where = format_place(moved.branch, moved.tip, moved.topic)
    click.echo(escape_controls(f"{_DONE[moved.action]}{why}: {where}"))
    if moved.ranked:
        click.echo(f"to go to another: ctxfold switch {session} NAME", err=True)


_DONE: dict[Action, str] = {
    "continue": "nothing moved",
    "create": "new branch",
    "switch": "switched",
    "new_topic": "new topic",
    "rename": "renamed",
}


_SAID = 80
"""Characters of a branch's last message that a line shows."""


@session_command
@click.argument("lines", metavar="[REF]...", nargs=-1)
@click.option("--need", metavar="WORDS", help="What is wanted; the to-do and the latest message if not said.")
@click.option("--budget", type=int, default=400, show_default=True, metavar="TOKENS", help="The most all may cost.")
@model_option
def extract(
    session: Session,
    lines: tuple[str, ...],
    need: str | None,
    budget: int,
    model: str | None,
    as_json: bool,
) -> None:
    """Put exact lines of the log at the end of the view, and print them.

    Refs such as s12:40-80 choose lines; with none, those that serve the to-do, the latest message and the constraints
    are found.
    """
    chosen = [{"ref": ref} for ref in lines]
    made = session.extract(need, chosen, budget) if chosen else ask_decider(model, "extract", session, need, budget)
    if as_json:
        print_json(made)
        return
    for each in made.extracts:
        print_text(f"{each.ref}\n{each.text}")
    for what, number in made.counts:
        click.echo(f"{number} {what}", err=True)
    if not made.extracts:
        click.echo(f"nothing in {session.name} serves that: try other words, or a ref", err=True)


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

    The view keeps the user's words, and facts that later steps refer to, next to the summary. The log keeps everything,
    and `ctxfold undo` takes a fold back.
    """
    from ctxfold.decisions.marks import name_marks
    from ctxfold.log import parse_step
    from ctxfold.workspace import spans

    if summary is not None and model is not None:
        raise InputError("a model writes its own summary: leave --summary out, or leave --model out")
    start, end = (None if step is None else parse_step(step) for step in (first, last))
    tile = ask_decider(model, "fold", session, start, end) if summary is None else session.fold(summary, start, end)
    if as_json:
        print_json(tile)
        return
    click.echo(escape_controls(f"{tile.id} stands for {spans(tile.steps)}: {tile.tokens:,} tokens, raw {tile.raw:,}"))
    if tile.marks:
        click.echo(escape_controls(f"not in the log, and marked so: {name_marks(tile.marks)}"), err=True)


def find_operator(name: str) -> Operator | None:
    """Return the operator of that name; None for `auto`. Raises InputError: an unknown name."""
    from ctxfold.decisions.refactor import OPERATORS

    if name == "auto":
        return None
    for operator in OPERATORS:
        if operator == name:
            return operator
    raise InputError(f"no operator {name!r}; use auto or one of {', '.join(OPERATORS)}")


_OPERATORS = (
    "state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting or attention_anchor; "
    "auto lets the router choose, or none."
)


@session_command
@click.option("--operator", default="auto", show_default=True, metavar="NAME", help=_OPERATORS)
@click.option("--text", help="What the operator puts in place; the embedded rules write it if not said.")
@model_option
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def refactor(session: Session, operator: str, text: str | None, model: str | None, dry_run: bool, as_json: bool) -> int:
    """Mend the view of a session that went bad.

    The log keeps everything; `ctxfold undo` takes a refactoring back. What does not pass its checks is not applied: the
    command ends with 1 and says why. Without a model the router looks for exact repetition and the high-water mark
    alone, and leaves a healthy history as it is.
    """
    if text is None and not dry_run:
        done = ask_decider(model, "refactor", session, find_operator(operator))
    elif model is None:
        done = session.refactor(find_operator(operator) or "auto", text, dry_run=dry_run)
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
        what = f"{'would apply' if dry_run else 'applied'} {done.operator}: {done.why}"
        click.echo(escape_controls(f"{what}; view {before:,} tokens before, {after:,} after"))
        print_text(done.diff)
    return int(done.refused)


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
    """Show and change a session's to-do, constraints and decisions.

    Entries are never deleted; `ctxfold undo` takes a change back.
    """
    from ctxfold.decisions.register import parse_statements

    entries: list[str | dict[str, str]] = [*added]
    entries += [_close(entry, "done") for entry in done]
    entries += [_close(entry, "dropped") for entry in drop]
    held, settled = parse_statements(constraints, "c"), parse_statements(decisions, "d")
    if summary is not None or entries or held or settled:
        session.plan(summary, entries, held, settled)
    elif plan:
        from ctxfold.models import helpers

        if helpers(model).planner is None:
            show_note("no model is set to plan with: give --add, --done, --drop, --constraint or --decision")
        ask_decider(model, "plan", session)
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


def _close(entry: str, state: str) -> dict[str, str]:
    name, _, ref = entry.partition("=")
    return {"id": name, "state": state, **({"evidence": ref} if ref else {})}


@session_command
def redo(session: Session, as_json: bool) -> None:
    """Void the last undo of a session, so that its decision holds again."""
    _print_event(session, "redone", session.redo(), as_json)


@session_command
def undo(session: Session, as_json: bool) -> None:
    """Void the newest decision of a session, such as a fold or a fork.

    Records always stay: folded steps come back in full, and a branch that was made is kept. Undo again to go one
    decision further back; `ctxfold redo` voids the undo.
    """
    _print_event(session, "undone", session.undo(), as_json)


def _print_event(session: Session, done: str, event: Event, as_json: bool) -> None:
    if as_json:
        print_json(event)
        return
    click.echo(escape_controls(f"{done}: {event.about}; {format_place(session.branch_name, session.tip)}"))
    if event.kind == "moved" and not event.standing:
        click.echo(
            f"{event.branch} stays, with what was recorded on it: ctxfold switch {session.name} {event.branch}",
            err=True,
        )
