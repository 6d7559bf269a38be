"""The commands that change a session's view: fold, todo, extract, refactor, branch, switch, undo, redo,
restore.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ctxfold.cli.options import Printout, format_place, model_option, session_command, show_note, tools_option
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Event, Session
    from ctxfold.session.branches import Move, Wish


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


_query_option = click.option("--query", metavar="MESSAGE", help="List the branches, those most like it first.")


@session_command
@click.argument("name", required=False)
@click.option("--at", metavar="STEP", help="The last step the new branch keeps; the end of this branch if not said.")
@_query_option
@click.option("--topic", "action", flag_value="new_topic", help="Begin a topic.")
@click.option("--rename", "action", flag_value="rename", help="Give this branch the name.")
@model_option
def branch(
    session: Session, name: str | None, at: str | None, query: str | None, action: Wish | None, model: str | None
) -> Printout:
    """Make a branch of a session, called NAME.

    The new branch keeps the path up to a step and copies nothing; `ctxfold switch` goes back, `ctxfold undo` takes the
    move back.
    """
    wish = action or ("create" if query is None else "auto")
    if wish == "auto" and not (name or at):
        return _describe_move(session, ask_decider(model, "branch", session, query))
    return _describe_move(session, session.branch(wish, query, at, name))


@session_command
@click.argument("name", required=False)
@_query_option
def switch(session: Session, name: str | None, query: str | None) -> Printout:
    """Go to the branch NAME of a session, whatever its topic.

    What is recorded and shown next is of that branch; `ctxfold tree` shows them all.
    """
    if name is None and query is None:
        raise InputError("give the NAME of a branch to go to, or --query to see which branches a message is like")
    return _describe_move(session, session.branch("switch" if query is None else "auto", query, to=name))


_SAID = 80
"""Characters of a branch's last message that a line shows."""
_DONE = {"continue": "nothing moved", "create": "new branch", "switch": "switched", "rename": "renamed"}


def _describe_move(session: Session, move: Move) -> Printout:
    """The branches that were ranked, the move, and where the session is now."""
    lines = []
    for ranked in move.ranked:
        said = ranked.said if len(ranked.said) <= _SAID else f"{ranked.said[:_SAID]}…"
        lines.append(f"{ranked.score:.2f}  {ranked.name}  {said}")
    why = f" ({move.reason})" if move.reason else ""
    lines.append(f"{_DONE.get(move.action, 'new topic')}{why}: {format_place(move.branch, move.tip, move.topic)}")
    notes = [f"to go to another: ctxfold switch {session.name} NAME"] if move.ranked else []
    return Printout(move, lines, notes=notes)


@session_command
@click.argument("refs", metavar="[REF]...", nargs=-1)
@click.option("--need", metavar="WORDS", help="What is wanted; the to-do and the latest message if not said.")
@click.option("--budget", type=int, default=400, show_default=True, metavar="TOKENS", help="The most all may cost.")
@click.option("--hint", default="", metavar="TEXT", help="What to heed next; it ends the view. With refs.")
@tools_option
@model_option
def extract(
    session: Session, refs: tuple[str, ...], need: str | None, budget: int, hint: str, tools: Any, model: str | None
) -> Printout:
    """Put exact lines of the log at the end of the view, and print them.

    Refs such as s12:40-80 choose lines; with none, those that serve the to-do, the latest message and the constraints
    are found.
    """
    if tools is not None:
        session.set_tools(tools)
    if refs or hint:
        selections = None if need and not refs else [{"ref": ref} for ref in refs]
        extraction = session.extract(need, selections, budget, hint=hint)
    else:
        extraction = ask_decider(model, "extract", session, need, budget)
    notes = [f"{number} {what}" for what, number in extraction.counts]
    notes += [f"not read: {extraction.unread}"] if extraction.unread else []
    if not (extraction.extracts or extraction.hint):
        notes.append(f"nothing in {session.name} serves that: try other words, or a ref")
    texts = [f"{line.ref}\n{line.text}\n" for line in extraction.extracts]
    for line in extraction.extracts:
        notes += [f"{line.ref} implies: {text}" for text in line.constraints]
    notes += [f"hint: {extraction.hint}"] if extraction.hint else []
    return Printout(extraction, text="".join(texts), notes=notes)


@session_command
@click.option("--first", metavar="STEP", help="The first step; the last alone if not said.")
@click.option("--last", metavar="STEP", help="The last step; the latest if not said.")
@click.option("--summary", metavar="TEXT", help="What replaces the steps, if you write it yourself.")
@click.option("--status", metavar="WORD", help="How they ended: completed, partial or failed.")
@click.option("--goal", metavar="TEXT", help="What they were for; the item of the to-do if not said.")
@click.option("--outcome", metavar="TEXT", help="What came of them, in a sentence.")
@click.option("--todo", metavar="ID", help="The item of the to-do that they served, such as t3.")
@click.option("--each", type=click.IntRange(1), metavar="N", help="Fold each of the last N steps alone, in 50 tokens.")
@model_option
def fold(
    session: Session, first: str | None, last: str | None, summary: str | None, each: int | None, model: str | None,
    **sub_task: Any,
) -> Printout:  # fmt: skip
    """Fold steps of a session into one block, or each of the last steps into a block of its own.

    The view keeps the user's words, and facts that later steps refer to, next to the summary. The log keeps everything,
    and `ctxfold undo` takes a fold back.
    """
    from ctxfold.decisions.marks import name_marks
    from ctxfold.log import parse_step, spans

    is_told = summary is not None or any(sub_task.values())
    if model is not None and is_told:
        raise InputError(
            "a model writes its own: leave --summary out, and what tells the sub-task, or leave --model out"
        )
    if each is not None and (is_told or first or last):
        raise InputError("--each takes the last steps one by one: leave all other options but --model out")
    start, end = (None if step is None else parse_step(step) for step in (first, last))
    if each is not None:
        tiles = ask_decider(model, "condense", session, each)
    elif is_told:
        tiles = [session.fold(summary, start, end, **sub_task)]
    else:
        tiles = [ask_decider(model, "fold", session, start, end)]
    notes = [f"not in the log, and marked so: {name_marks(tile.marks)}" for tile in tiles if tile.marks]
    notes += [] if tiles else ["none of these steps is shorter folded alone: fold several with --first and --last"]
    lines = [f"{tile.id} stands for {spans(tile.steps)}: {tile.tokens:,} tokens, raw {tile.raw:,}" for tile in tiles]
    return Printout(tiles if each else tiles[0], lines, notes=notes)


@session_command
@click.option(
    "--operator", default="auto", show_default=True, metavar="NAME", help="Which one; auto lets the router choose."
)
@click.option("--text", help="What the operator puts in place; the embedded rules write it if not said.")
@model_option
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def refactor(session: Session, operator: str, text: str | None, model: str | None, dry_run: bool) -> Printout:
    """Mend the view of a session that went bad.

    The operators are state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting and attention_anchor.
    The log keeps everything; `ctxfold undo` takes a refactoring back. What does not pass its checks is not applied: the
    command ends with 1 and says why. Without a model the router looks for exact repetition and the high-water mark
    alone, and leaves a healthy history as it is.
    """
    from ctxfold.decisions.refactor import read_operator

    if text is None and not dry_run:
        chosen = read_operator(operator)
        done = ask_decider(model, "refactor", session, None if chosen == "auto" else chosen)
    elif model is None:
        done = session.refactor(operator, text, dry_run=dry_run)
    else:
        raise InputError("a model writes its own text: leave --text and --dry-run out, or leave --model out")
    value = {**asdict(done), "diff": done.diff, "dry_run": dry_run}
    if done.operator == "none":
        return Printout(value, [f"left alone: {done.reason}"])
    if done.refused:
        return Printout(value, notes=[f"{done.operator} refused, nothing changed: {done.why}"], code=1)
    before, after = done.tokens
    what = f"{'would apply' if dry_run else 'applied'} {done.operator}: {done.why}"
    return Printout(value, [f"{what}; view {before:,} tokens before, {after:,} after"], text=f"{done.diff}\n")


@session_command
@click.option("--plan", is_flag=True, help="Let a model write it from what was said and done since the last plan.")
@model_option
@click.option("--summary", metavar="TEXT", help="Write the dialogue so far in words.")
@click.option("--add", multiple=True, metavar="TEXT", help="Add an item; may be given several times.")
@click.option("--done", multiple=True, metavar="ID[=REF]", help="Close an item, with the ref that shows it is done.")
@click.option("--drop", multiple=True, metavar="ID[=REF]", help="Drop an item, with the ref of the user's words.")
@click.option("--order", multiple=True, metavar="ID", help="Put the items in the order in which they are given.")
@click.option("--constraint", multiple=True, metavar="[ID=]TEXT", help="Add what must hold; ID=TEXT replaces one.")
@click.option("--decision", multiple=True, metavar="[ID=]TEXT", help="Add what was decided; ID= lifts one.")
def todo(session: Session, plan: bool, model: str | None, summary: str | None, **entries: tuple[str, ...]) -> Printout:
    """Show and change a session's to-do, constraints and decisions.

    Entries are never deleted; `ctxfold undo` takes a change back.
    """
    from ctxfold.decisions.register import parse_statements

    items: list[str | dict[str, str]] = [*({"id": name} for name in entries["order"]), *entries["add"]]
    items += [_close_item(entry, "done") for entry in entries["done"]]
    items += [_close_item(entry, "dropped") for entry in entries["drop"]]
    constraints, decisions = parse_statements(entries["constraint"], "c"), parse_statements(entries["decision"], "d")
    if summary is not None or items or constraints or decisions:
        session.plan(summary, items, constraints, decisions)
    elif plan:
        from ctxfold.models import helpers

        if helpers(model).planner is None:
            show_note("no model is set to plan with: give --add, --done, --drop, --constraint or --decision")
        ask_decider(model, "plan", session)
    intent = session.intent
    rows: list[tuple[str, str, str, str]] = []
    rows += [(item.id, item.state, item.text, " ".join(item.evidence)) for item in intent.items]
    for bound in (*intent.constraints, *intent.decisions):
        lifted = "lifted" if bound.lifted else "holds"
        state = f"superseded by {bound.superseded_by}" if bound.superseded_by else lifted
        rows.append((bound.id, state, bound.text, bound.ref))
    lines = [
        f"{name}  {state:<7}  {' '.join(text.split())}{f'  [{refs}]' if refs else ''}"
        for name, state, text, refs in rows
    ]
    nothing = f"nothing is written for {session.name}: give --add, --constraint or --decision with its words"
    return Printout(intent, lines, notes=[] if rows else [nothing])


def _close_item(entry: str, state: str) -> dict[str, str]:
    """The change of the register that `ID` or `ID=REF` stands for."""
    name, _, ref = entry.partition("=")
    return {"id": name, "state": state, **({"evidence": ref} if ref else {})}


@session_command
def redo(session: Session) -> Printout:
    """Void the last undo of a session, so that its decision holds again."""
    return _describe_event(session, "redone", session.redo())


@session_command
def undo(session: Session) -> Printout:
    """Void the newest decision of a session, such as a fold or a fork.

    Records always stay: folded steps come back in full, and a branch that was made is kept. Undo again to go one
    decision further back; `ctxfold redo` voids the undo.
    """
    return _describe_event(session, "undone", session.undo())


@session_command
@click.argument("version", metavar="VERSION")
def restore(session: Session, version: str) -> Printout:
    """Go back to an older version of a session's context, such as v12: as it was after event 12 of `ctxfold log`.

    Folds, to-do, decisions and goal become those of then. Constraints hold for the whole session and stay as they are,
    and so do steps recorded since, in full; `ctxfold undo` takes the return back, and `ctxfold context SESSION --at
    v12` only looks.
    """
    return _describe_event(session, "done", session.restore(version))


def _describe_event(session: Session, done: str, event: Event) -> Printout:
    """The decision that was undone, redone or made, and where the session is now."""
    notes = []
    if event.kind == "moved" and not event.holds:
        way_back = f"ctxfold switch {session.name} {event.branch}"
        notes.append(f"{event.branch} stays, with what was recorded on it: {way_back}")
    return Printout(event, [f"{done}: {event.about}; {format_place(session.branch_name, session.tip)}"], notes=notes)
