"""`ctxfold tree`: a session's topics and branches as a tree a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json

if TYPE_CHECKING:
    from ctxfold.session.history.tree import BranchInfo, Topic

__all__ = ["tree"]


@click.command()
@session_argument
@json_option
@store_option
def tree(session: str, as_json: bool, store: str | None) -> None:
    """Show a session's topics, their branches and what is folded on each.

    An asterisk marks the branch one stands on. Of each branch stand the steps that are its own, where it turns off, and what its path costs in a view
    and raw, in tokens.
    """
    with existing(session, store) as opened:
        topics, current = opened.tree(), opened.branch_name
    if as_json:
        print_json({"current": current, "topics": topics})
        return
    for topic in topics:
        click.echo(harmless(topic.name))
        for line in _branches(topic, ""):
            click.echo(harmless(line))


def _branches(topic: Topic, origin: str, lead: str = "") -> list[str]:
    """The branches that turn off from one, each with those that turn off from it."""
    here = [branch for branch in topic.branches if branch.forked_from == origin]
    lines: list[str] = []
    for at, branch in enumerate(here):
        last = at == len(here) - 1
        lines.append(f"{lead}{'└─' if last else '├─'} {_line(branch)}")
        below = f"{lead}{'   ' if last else '│  '}"
        lines += [
            f"{below}   ▪ {fold.block} {_short(fold.steps)} folded, {fold.tokens:,} of {fold.raw:,} tokens"
            for fold in branch.folded
        ]
        lines += _branches(topic, branch.name, below)
    return lines


def _line(branch: BranchInfo) -> str:
    mark = "* " if branch.current else ""
    where = f" from s{branch.forked_at}" if branch.forked_at else ""
    own = f": {_short(branch.own)}" if branch.own else ": nothing of its own" if branch.forked_at else ": nothing yet"
    cost = (
        f" | {branch.steps} step{'s' * (branch.steps != 1)}, {branch.shown:,} tokens in view, {branch.tokens:,} raw"
        if branch.steps
        else ""
    )
    return f"{mark}{branch.name}{where}{own}{cost}"


def _short(steps: str) -> str:
    """Addresses, of many the first and the last."""
    parts = steps.split(", ")
    return steps if len(parts) <= 4 else f"{parts[0]}, {parts[1]}, … {parts[-1]}"
