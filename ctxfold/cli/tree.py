"""`ctxfold tree`: a session's topics and branches."""

from __future__ import annotations

import click

from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import harmless, print_json

__all__ = ["tree"]


@click.command()
@session_argument
@json_option
@store_option
def tree(session: str, as_json: bool, store: str | None) -> None:
    """Show a session's topics and their branches."""
    with existing(session, store) as opened:
        topics, current = opened.tree(), opened.branch_name
    if as_json:
        print_json({"current": current, "topics": topics})
        return
    for topic in topics:
        click.echo(harmless(topic.name))
        for branch in topic.branches:
            click.echo(f"  {'*' if branch.name == current else ' '} {branch.name}  s{branch.tip}")
