"""`ctxfold recall`: prints the exact text behind a ref, or searches the log."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import session_command
from ctxfold.cli.output import escape_controls, is_terminal, print_json
from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold import Session

__all__ = ["recall"]

ADDRESS = re.compile(r"s\d[\d.:s-]*|b\d+")
"""What is meant as a ref, well-formed or not; anything else is words to search for."""

_limit = click.IntRange(min=1)


@session_command
@click.argument("what", metavar="REF_OR_QUERY", nargs=-1, required=True)
@click.option("--limit", type=_limit, default=5, show_default=True, metavar="N", help="How many hits a search gives.")
@click.option(
    "--skip", type=click.IntRange(min=0), default=0, metavar="N", help="How many of the best hits to pass over."
)
@click.option("--raw", is_flag=True, help="The bytes of a page, not the form in which it reads.")
def recall(session: Session, what: tuple[str, ...], limit: int, skip: int, raw: bool, as_json: bool) -> int:
    """Print the exact text behind a ref, or search the log for words.

    A ref (s12, s12.2, s12.2:40-80, s4-s9, b7) gives a pipe or file its bytes and nothing else, but for a page, which
    comes as it reads unless --raw is given; on a terminal, what could steer it is written out. Words print the places that hold them, best first, each with its ref;
    where nothing does, the command ends with 1.
    """
    query = " ".join(what)
    if not query.strip():
        raise InputError("nothing to recall: give a ref such as s12.2, or words to search for")
    if ADDRESS.fullmatch(query):
        found = session.recall(query, reading=not (raw or as_json))
        if found.derived and found.origin == "page":
            click.echo(f"{found.ref} as the page reads; --raw gives its bytes", err=True)
        print_json(found) if as_json else _print_exactly(found.text)
        return 0
    hits = session.recall(query=query, limit=limit, skip=skip)
    if as_json:
        print_json(hits)
        return int(not hits)
    for hit in hits:
        click.echo(f"{hit.ref}  {escape_controls(' '.join(hit.text.split()))}")
    if not hits:
        after = f" beyond the best {skip}" if skip else ""
        click.echo(
            f"nothing found{after}: all records of {session.name}, on every branch, were searched for {query!r}; "
            f"try other words, or see what there is with `ctxfold log {session.name}`",
            err=True,
        )
    return int(not hits)


def _print_exactly(text: str) -> None:
    """The bytes as they were recorded, with nothing added; harmless on a terminal."""
    if is_terminal():
        click.echo(escape_controls(text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()
