"""`ctxfold follow`: records what a host writes in its transcript while it writes it."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ctxfold.cli.options import find_transcript, name_of, store_option, transcript_options
from ctxfold.errors import InputError
from ctxfold.text.words import counted

__all__ = ["follow"]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@transcript_options
@click.option("--name", metavar="SESSION", help="The session; without it, one named after host and file.")
@click.option(
    "--every", type=click.FloatRange(0.05), default=0.5, show_default=True, metavar="SECONDS", help="How often to look."
)
@click.option(
    "--idle",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="End when nothing new came for so long; without it, at Ctrl-C.",
)
@store_option
def follow(
    file: Path | None,
    host: str | None,
    latest: bool,
    name: str | None,
    every: float,
    idle: float | None,
    store: str | None,
) -> None:
    """Record a host's transcript as it grows: `ctxfold follow --from claude-code --latest`.

    Nothing is sent to the host, and nothing leaves this machine. What was recorded before is not recorded again.
    """
    import ctxfold

    if host is None:
        raise InputError("say who writes the transcript: --from claude-code")
    transcript = find_transcript(host, file, latest)
    with ctxfold.Session.open(name or name_of(transcript), store=store) as session:
        click.echo(f"following {transcript.path} into {session.name}", err=True)
        quiet = 0.0
        while idle is None or quiet < idle:
            entries = list(transcript.new())
            new = sum(session.record_transcript(entries).values())
            if new:
                click.echo(f"s{session.tip}: {counted(new, 'new entry', 'new entries')}", err=True)
            quiet = 0.0 if new else quiet + every
            time.sleep(every)
