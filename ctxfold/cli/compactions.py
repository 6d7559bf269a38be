"""`ctxfold diff` and `ctxfold restore`: what a host's compaction dropped, and putting it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import print_json, print_table, print_text, session_command
from ctxfold.text.words import counted

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["diff", "restore"]

_WORDS = 160
"""Characters of one thing that the table shows."""
_KINDS = {"rule": "sentences of the user's", "value": "values in use", "file": "files that calls named"}

_which = click.option(
    "--compaction", type=click.IntRange(min=1), default=None, metavar="N", help="Which, from 1; the newest if not said."
)


@session_command
@_which
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="How many of each kind."
)
def diff(session: Session, compaction: int | None, limit: int, as_json: bool) -> None:
    """Show what a host's compaction dropped: what stood before it, is in use, and stands nowhere in the host's summary.

    That is sentences of the user's and constraints, values that were named again, and files that calls named. Each has the ref of the line that
    holds it, and how often it was named before and since. `ctxfold restore` puts it back.
    """
    found = session.dropped(compaction or 0)
    if as_json:
        print_json(found)
        return
    kept = dict(found.kept)
    by_kind = {kind: [each for each in found.lost if each.kind == kind] for kind in kept}
    told = ", ".join(f"{kept[kind]:,} of {kept[kind] + len(lost):,} {_KINDS[kind]}" for kind, lost in by_kind.items())
    click.echo(f"compaction {found.compaction} of {found.of}: its summary, {found.ref}, holds {told}", err=True)
    print_table(
        ["kind", "ref", "before", "since", "dropped"],
        [
            [each.kind, each.ref, each.before, each.after, each.text[:_WORDS]]
            for lost in by_kind.values()
            for each in lost[:limit]
        ],
    )
    left = sum(max(len(lost) - limit, 0) for lost in by_kind.values())
    if left:
        click.echo(f"{left:,} more: --limit {max(map(len, by_kind.values()))}, or --json for all", err=True)


@session_command
@_which
@click.option("--budget", type=int, default=2_000, show_default=True, metavar="TOKENS", help="The most all may cost.")
def restore(session: Session, compaction: int | None, budget: int, as_json: bool) -> None:
    """Put back what a host's compaction dropped: exact lines of the log at the end of the view.

    Where the host runs our hooks (`ctxfold install HOST --hooks`), its model is given them with the next prompt. `ctxfold undo` takes them out again.
    """
    from ctxfold.session.handover import hand_over

    made = session.restore(compaction or 0, budget)
    hand_over(session.name, "restored")
    if as_json:
        print_json(made)
        return
    for each in made.extracts:
        print_text(f"{each.ref}\n{each.text}")
    left = f"; {len(made.omitted):,} more did not fit: give a larger --budget" if made.omitted else ""
    put = counted(len(made.extracts), "place")
    click.echo(f"{put} of the log put back at the end of the view, {made.tokens:,} tokens{left}", err=True)
