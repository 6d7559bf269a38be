"""`ctxfold log`: prints the events of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import format_time, print_json, print_table

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["format_steps", "log"]

_limit = click.IntRange(min=1)


@session_command
@click.option("--limit", type=_limit, default=50, show_default=True, metavar="N", help="How many, the newest.")
def log(session: Session, limit: int, as_json: bool) -> None:
    """List what was recorded and decided in a session, the oldest first.

    Each event names who decided it and the steps it is about; `ctxfold recall SESSION s12` prints a step.
    """
    events = sorted(session.history(limit=limit), key=lambda event: event.seq)
    if as_json:
        print_json(events)
        return
    print_table(
        ["event", "time", "branch", "kind", "steps", "by", "cause"],
        [
            [
                each.seq,
                format_time(each.time),
                each.branch,
                each.kind,
                format_steps(each.steps),
                each.decider,
                each.cause,
            ]
            for each in events
        ],
    )


def format_steps(steps: tuple[int, ...]) -> str:
    """Steps as their refs: one, or the first and the last of a run."""
    if not steps:
        return ""
    return f"s{steps[0]}" if len(steps) == 1 else f"s{steps[0]}…s{steps[-1]}"
