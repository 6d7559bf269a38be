"""`ctxfold diff` and `ctxfold restore`: what a host's compaction dropped, and putting it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import print_json, print_table, print_text

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["diff", "restore"]

_WORDS = 160
"""Characters of one thing that the table shows."""
_KINDS = {"rule": "the user's sentences", "value": "the values in use", "file": "the files that calls named"}

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
    told = "; ".join(
        f"of {_KINDS[kind]} {kept[kind]:,} of {kept[kind] + len(lost):,}" for kind, lost in by_kind.items()
    )
    click.echo(f"compaction {found.compaction} of {found.of}, {found.ref}: its summary holds {told}", err=True)
    print_table(
        ["kind", "dropped", "ref", "before", "since"],
        [
            [each.kind, each.text[:_WORDS], each.ref, each.before, each.after]
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
    left = f"; {len(made.omitted):,} did not fit, as --budget says" if made.omitted else ""
    click.echo(f"{len(made.extracts):,} lines put back, {made.tokens:,} tokens{left}", err=True)
