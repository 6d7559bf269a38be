"""`ctxfold hook HOST`: answers one event of a coding host's hooks."""

from __future__ import annotations

import sys

import click

__all__ = ["hook"]


@click.command(short_help="Answer one event of a coding host's hooks.")
@click.argument("host", metavar="HOST")
@click.argument("part", default="1/1", metavar="[PART]")
def hook(host: str, part: str) -> None:
    """Read an event from standard input and print the answer, if there is one.

    `ctxfold install HOST --hooks` writes the same into the host's settings in a form that starts faster.
    """
    from ctxfold.errors import CtxfoldError
    from mcp_server.hooks.__main__ import respond

    try:
        respond([host, part], sys.stdin.buffer.read())
    except CtxfoldError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)  # a host takes 2, the code of most of these, as a veto
