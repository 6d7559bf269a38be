"""`ctxfold log`: prints the events of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import format_time, print_json, print_table
from ctxfold.workspace.workspace import spans

if TYPE_CHECKING:
    from ctxfold import Event, Session

__all__ = ["log"]

_limit = click.IntRange(min=1)


@session_command
@click.option("--limit", type=_limit, default=50, show_default=True, metavar="N", help="How many, the newest.")
def log(session: Session, limit: int, as_json: bool) -> None:
    """List what was recorded and decided in a session, the oldest first.

    Of each event stands what was said or called first (and how many records came with it), or what was decided, by whom and why. `raw` is what the
    step costs as it was recorded, in tokens; `ctxfold recall SESSION s12` prints a step.
    """
    events = sorted(session.history(limit=limit), key=lambda event: event.seq)
    if as_json:
        print_json(events)
        return
    grown = {each.steps: each.seq for each in events if each.tokens}
    print_table(
        ["event", "time", "branch", "steps", "raw", "what"],
        [
            [
                each.seq,
                format_time(each.time),
                each.branch,
                spans(each.steps),
                f"{each.tokens:,}" if grown.get(each.steps) == each.seq else "",
                _say(each),
            ]
            for each in events
        ],
    )


def _say(event: Event) -> str:
    """What an event was about; of a decision that no host made who made it, its reason where somebody gave one, and whether it was undone."""
    about = event.about or event.kind.replace("_", " ")
    if event.kind in ("voided", "noted", "recorded", "arrived"):
        return about
    by = "" if event.decider == "host" else f"by {event.decider}"
    why = "" if event.cause in _PLAIN else event.cause
    return "; ".join(filter(None, [about, by, why, "" if event.standing else "undone"]))


_PLAIN = ("asked for", "told", "create", "switch", "new_topic", "rename")
"""Reasons that say no more than what was done."""
