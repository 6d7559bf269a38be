"""The commands that show a session: context, diff, log, tree, recall."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import (
    Printout,
    data_command,
    format_table,
    format_time,
    is_terminal,
    open_existing,
    session_command,
)
from ctxfold.errors import InputError
from ctxfold.log import spans
from ctxfold.text.words import counted

if TYPE_CHECKING:
    from ctxfold import Event, Session
    from ctxfold.session.branches import BranchInfo, Topic


_budget_option = click.option(
    "--budget", type=int, metavar="TOKENS", help="The most tokens the view may take; the session's own if not said."
)
_SHOWN = ("text", "messages", "stable", "tokens", "refs", "budget", "unfolded")


@session_command
@_budget_option
@click.option("--at", metavar="VERSION", help="As it was after an event of `ctxfold log`, such as v12.")
def context(session: Session, budget: int | None, at: str | None) -> Printout:
    """Print a session's context as a model would read it.

    The view never takes more than its budget: longer text is shortened and carries a ref to the whole. Looking changes
    nothing.
    """
    view = session.view(budget, fill=True, at=at)
    value = {name: getattr(view, name) for name in _SHOWN}
    cost = f"tokens: view {view.tokens:,} of {view.budget:,}, raw {view.unfolded:,}"
    return Printout(value, text=f"{view.text}\n", notes=[cost] if is_terminal() else [])


@session_command
@click.argument("before", metavar="VERSION")
@click.argument("after", metavar="[VERSION]", required=False)
@_budget_option
def diff(session: Session, before: str, after: str | None, budget: int | None) -> Printout:
    """Show how a session's context differs between two versions, such as v12 and v20, or between one and now.

    v12 is the context after event 12 of `ctxfold log`. Lines that went begin with -, lines that came with +.
    """
    old, new = (session.view(budget, at=at).text.split("\n") for at in (before, after))
    lines = list(difflib.unified_diff(old, new, before, after or "now", lineterm=""))
    notes = [] if lines else [f"{session.name} reads the same at {before} and {after or 'now'}"]
    return Printout({"before": before, "after": after or "now", "lines": lines}, lines, notes=notes)


_limit = click.IntRange(min=1)


@session_command
@click.option("--limit", type=_limit, default=50, show_default=True, metavar="N", help="How many, the newest.")
def log(session: Session, limit: int) -> Printout:
    """List what was recorded and decided in a session, the oldest first.

    Each line shows the first message or call of an event and how many records came with it, or a decision with its
    decider and reason. `raw` is the number of tokens of the step as it was recorded; `ctxfold recall SESSION s12`
    prints a step.
    """
    events = session.history(limit=limit)[::-1]
    newest = {event.steps: event.seq for event in events if event.tokens}
    rows: list[Sequence[object]] = []
    for event in events:
        raw = f"{event.tokens:,}" if newest.get(event.steps) == event.seq else ""
        rows.append((event.seq, format_time(event.time), event.branch, spans(event.steps), raw, _describe(event)))
    return Printout(events, format_table(["event", "time", "branch", "steps", "raw", "what"], rows))


def _describe(event: Event) -> str:
    """Describe an event; a decision comes with its decider (unless a host made it), its reason and whether it was
    undone.
    """
    about = event.about or event.kind.replace("_", " ")
    if event.kind in ("voided", "noted", "recorded", "arrived"):
        return about
    by = "" if event.decider == "host" else f"by {event.decider}"
    why = "" if event.cause in _PLAIN else event.cause
    return "; ".join(filter(None, [about, by, why, "" if event.holds else "undone"]))


_PLAIN = ("asked for", "told", "create", "switch", "new_topic", "rename")
"""Reasons that say no more than what was done."""


ADDRESS = re.compile(r"s\d[\d.:s-]*|b\d+")
"""Text that looks like a ref, well-formed or not; any other text is a search."""


@data_command
@click.argument("what", metavar="[SESSION] REF_OR_QUERY", nargs=-1, required=True)
@click.option("--all", "every", is_flag=True, help="Search all sessions: ctxfold recall --all WORDS.")
@click.option("--prefix", default="", metavar="NAME", help="With --all: only sessions whose names begin so.")
@click.option("--limit", type=_limit, default=5, show_default=True, metavar="N", help="How many hits a search gives.")
@click.option("--skip", type=click.IntRange(min=0), default=0, metavar="N", help="How many better hits to leave out.")
@click.option("--raw", is_flag=True, help="The bytes of a page, not the form in which it reads.")
def recall(
    what: tuple[str, ...], every: bool, prefix: str, limit: int, skip: int, raw: bool, store: str | None
) -> Printout:
    """Print the exact text behind a ref, or search the log for words.

    A ref (s12, s12.2, s12.2:40-80, s4-s9, b7) prints the recorded bytes and nothing else; a page is printed as readable
    text unless --raw is given. On a terminal, control characters are escaped. Words print the places that hold them,
    best first, each with its ref; the command ends with 1 where no place holds them. With --all, SESSION is left out.
    """
    import ctxfold

    query = " ".join(what if every else what[1:])
    if not query.strip():
        raise InputError("nothing to recall: give a ref such as s12.2, or words to search for")
    where = "any session" if every else what[0]
    with nullcontext() if every else open_existing(where, store) as session:
        if session is not None and ADDRESS.fullmatch(query):
            recalled = session.recall(query, reading=not raw)
            as_page = recalled.derived and recalled.origin == "page"
            notes = [f"{recalled.ref} as the page reads; --raw gives its bytes"] if as_page else []
            return Printout(recalled, text=recalled.text, notes=notes)
        search = session.recall if session else partial(ctxfold.recall_all, store=store, prefix=prefix)
        hits = search(query=query, limit=limit, skip=skip)
    after = f" beyond the best {skip}" if skip else ""
    nothing = f"nothing found{after} in any record of {where} for {query!r}: try other words, or `ctxfold log`"
    return Printout(hits, [hit.line for hit in hits], notes=[] if hits else [nothing], code=int(not hits))


@session_command
def tree(session: Session) -> Printout:
    """Show a session's topics, their branches and the folds on each.

    An asterisk marks the current branch. Each branch lists its own steps and the step it forks from, then the number of
    steps that lead to its end, and their tokens: raw as they were recorded, cover with each fold in place of its steps.
    """
    topics = session.tree()
    lines = [line for topic in topics for line in (f"topic {topic.name}", *_draw_branches(topic, ""))]
    return Printout({"current": session.branch_name, "topics": topics}, lines)


def _draw_branches(topic: Topic, origin: str, lead: str = "") -> list[str]:
    """Draw the branches that fork from `origin`, each with its own forks beneath it."""
    branches = [branch for branch in topic.branches if branch.forked_from == origin]
    lines: list[str] = []
    for branch in branches:
        last = branch is branches[-1]
        lines.append(f"{lead}{'└─' if last else '├─'} {_format_branch(branch)}")
        below = f"{lead}{'   ' if last else '│  '}"
        lines += [
            f"{below}   ▪ {fold.block} stands for {_abbreviate(fold.steps)}: {fold.tokens:,} tokens, raw {fold.raw:,}"
            for fold in branch.folded
        ]
        lines += _draw_branches(topic, branch.name, below)
    return lines


def _format_branch(branch: BranchInfo) -> str:
    """One branch: where it forks, its own steps, how many steps lead to its end, and their tokens."""
    mark = "* " if branch.current else ""
    where = f" from s{branch.forked_at}" if branch.forked_at else ""
    own = _abbreviate(branch.own) if branch.own else "nothing of its own" if branch.forked_at else "nothing yet"
    if not branch.steps:
        return f"{mark}{branch.name}{where}: {own}"
    length = f"{counted(branch.steps, 'step')}{' in all' if where else ''}"
    folded = f", cover {branch.shown:,}" if branch.folded else ""
    return f"{mark}{branch.name}{where}: {own} ({length}; tokens: raw {branch.tokens:,}{folded})"


def _abbreviate(steps: str) -> str:
    """Shorten a list of addresses to its first two and its last."""
    parts = steps.split(", ")
    return steps if len(parts) <= 4 else f"{parts[0]}, {parts[1]}, … {parts[-1]}"
