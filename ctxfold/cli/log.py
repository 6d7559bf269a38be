"""`ctxfold log`: what happened in a session, event by event."""

from __future__ import annotations

import click

from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import print_json, print_table, when

__all__ = ["log", "steps_of"]


@click.command()
@session_argument
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="How many, the newest."
)
@json_option
@store_option
def log(session: str, limit: int, as_json: bool, store: str | None) -> None:
    """List what was recorded and decided in a session, the oldest first.

    Each event names who decided it and the steps it is about; `ctxfold recall SESSION s12` prints a step.
    """
    with existing(session, store) as opened:
        events = sorted(opened.history(limit=limit), key=lambda event: event.seq)
    if as_json:
        print_json(events)
        return
    print_table(
        ["event", "time", "branch", "kind", "steps", "by", "cause"],
        [
            [event.seq, when(event.time), event.branch, event.kind, steps_of(event.steps), event.decider, event.cause]
            for event in events
        ],
    )


def steps_of(steps: tuple[int, ...]) -> str:
    """Steps as their refs: one, or the first and the last of a run."""
    if not steps:
        return ""
    return f"s{steps[0]}" if len(steps) == 1 else f"s{steps[0]}…s{steps[-1]}"
