"""`ctxfold tree`: prints a session's topics and branches as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import escape_controls, print_json
from ctxfold.text.words import counted

if TYPE_CHECKING:
    from ctxfold import Session
    from ctxfold.session.history.tree import BranchInfo, Topic

__all__ = ["tree"]


@session_command
def tree(session: Session, as_json: bool) -> None:
    """Show a session's topics, their branches and what is folded on each.

    An asterisk marks the branch one stands on. Of each branch stand the steps that are its own and where it turns off; then how many steps lead to its
    end, and their tokens: raw, as they were recorded, and cover, with folds in place of what they stand for.
    """
    topics = session.tree()
    if as_json:
        print_json({"current": session.branch_name, "topics": topics})
        return
    for topic in topics:
        click.echo(escape_controls("\n".join([f"topic {topic.name}", *_draw_branches(topic, "")])))


def _draw_branches(topic: Topic, origin: str, lead: str = "") -> list[str]:
    """The branches that turn off from one, each with those that turn off from it."""
    here = [branch for branch in topic.branches if branch.forked_from == origin]
    lines: list[str] = []
    for branch in here:
        last = branch is here[-1]
        lines.append(f"{lead}{'└─' if last else '├─'} {_format_branch(branch)}")
        below = f"{lead}{'   ' if last else '│  '}"
        lines += [
            f"{below}   ▪ {fold.block} stands for {_shorten(fold.steps)}: {fold.tokens:,} tokens, raw {fold.raw:,}"
            for fold in branch.folded
        ]
        lines += _draw_branches(topic, branch.name, below)
    return lines


def _format_branch(branch: BranchInfo) -> str:
    mark = "* " if branch.current else ""
    where = f" from s{branch.forked_at}" if branch.forked_at else ""
    own = _shorten(branch.own) if branch.own else "nothing of its own" if branch.forked_at else "nothing yet"
    if not branch.steps:
        return f"{mark}{branch.name}{where}: {own}"
    length = f"{counted(branch.steps, 'step')} in all" if where else counted(branch.steps, "step")
    folded = f", cover {branch.shown:,}" if branch.folded else ""
    return f"{mark}{branch.name}{where}: {own} ({length}; tokens: raw {branch.tokens:,}{folded})"


def _shorten(steps: str) -> str:
    """Addresses, of many the first and the last."""
    parts = steps.split(", ")
    return steps if len(parts) <= 4 else f"{parts[0]}, {parts[1]}, … {parts[-1]}"
