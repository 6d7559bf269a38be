"""`ctxfold redact`: removes text from a session for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import confirm, session_command, yes_option
from ctxfold.cli.output import print_json
from ctxfold.text.words import counted

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["redact"]


@session_command
@click.argument("what", metavar="REF_OR_PATTERN")
@yes_option
def redact(session: Session, what: str, yes: bool, as_json: bool) -> None:
    """Blank text for good, in the log and in everything made from it.

    A ref blanks its records; a regular expression blanks what it matches, wherever it stands and in common encodings too. A mark of the
    same length takes its place; a branch, a topic or a session that is called by it is called otherwise. This cannot be undone, and is itself logged.
    """
    confirm(f"Blank {what!r} in {session.name} for good?", yes)
    before = session.name
    redacted = session.redact(what)
    if as_json:
        print_json(redacted)
        return
    renamed = (
        f", and called {counted(redacted.names, 'branch or topic', 'branches and topics')} otherwise"
        if redacted.names
        else ""
    )
    click.echo(
        f"blanked {counted(redacted.bytes, 'byte')} in {counted(redacted.records, 'record')} of {session.name}{renamed}"
    )
    if session.name != before:
        click.echo(f"the session told of it by its name: it is called {session.name} now")
    click.echo(f"not reached: {'; '.join(redacted.left)}", err=True)
