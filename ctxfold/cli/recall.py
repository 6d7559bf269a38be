"""`ctxfold recall`: raw text by its address, or a search for it."""

from __future__ import annotations

import re
import sys

import click

from ctxfold.cli.options import existing, json_option, session_argument, store_option
from ctxfold.cli.output import harmless, on_terminal, print_json
from ctxfold.errors import InputError

__all__ = ["recall"]

ADDRESS = re.compile(r"s\d[\d.:s-]*|b\d+")
"""What is meant as a ref, well-formed or not; anything else is words to search for."""


@click.command()
@session_argument
@click.argument("what", metavar="REF_OR_QUERY", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="How many hits a search gives.",
)
@json_option
@store_option
def recall(session: str, what: tuple[str, ...], limit: int, as_json: bool, store: str | None) -> None:
    """Print the exact text behind a ref, or search the log for words.

    A ref (s12, s12.2, s12.2:40-80, s4-s9, b7) gives a pipe or file its bytes and nothing else; on a terminal, what
    could steer it is written out. Words print the places that hold them, best first, each with its ref.
    """
    words = " ".join(what)
    if not words.strip():
        raise InputError("nothing to recall: give a ref such as s12.2, or words to search for")
    with existing(session, store) as opened:
        if ADDRESS.fullmatch(words):
            found = opened.recall(words)
            if as_json:
                print_json(found)
            elif on_terminal():
                click.echo(harmless(found.text))
            else:
                _write_exactly(found.text)
            return
        hits = opened.recall(query=words, limit=limit)
    if as_json:
        print_json(hits)
        return
    for hit in hits:
        click.echo(f"{hit.ref}  {harmless(' '.join(hit.text.split()))}")
    if not hits:
        click.echo(f"nothing in {session} holds {words!r}: try other words", err=True)


def _write_exactly(text: str) -> None:
    """The bytes as they were recorded, with nothing added."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()
