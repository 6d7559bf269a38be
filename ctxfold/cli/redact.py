"""`ctxfold redact`: take text out of a session for good."""

from __future__ import annotations

import click

from ctxfold.cli.options import confirmed, existing, json_option, session_argument, store_option, yes_option
from ctxfold.cli.output import print_json

__all__ = ["redact"]


@click.command()
@session_argument
@click.argument("what", metavar="REF_OR_PATTERN")
@yes_option
@json_option
@store_option
def redact(session: str, what: str, yes: bool, as_json: bool, store: str | None) -> None:
    """Blank text for good, in the log and in everything made from it.

    A ref blanks its records; a regular expression blanks what it matches, wherever it stands. A mark of the same
    length takes its place. This cannot be undone, and is itself logged.
    """
    with existing(session, store) as opened:
        confirmed(f"Blank {what!r} in {session} for good?", yes)
        redacted = opened.redact(what)
    if as_json:
        print_json(redacted)
        return
    click.echo(f"blanked {redacted.bytes:,} bytes in {redacted.records} records of {session}")
