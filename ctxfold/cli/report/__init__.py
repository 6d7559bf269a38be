"""`ctxfold report`: writes a session as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from ctxfold.cli.options import budget_option, json_option, open_existing, session_argument, store_option
from ctxfold.cli.output import print_json
from ctxfold.text.words import counted

__all__ = ["report"]


@click.command()
@session_argument
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; SESSION.html if not said.")
@click.option(
    "--screenshots",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Pictures named after their steps, s12.png; those `ctxfold browse --screenshots` kept if not said.",
)
@budget_option
@json_option
@store_option
def report(
    session: str, out: Path | None, screenshots: Path | None, budget: int, as_json: bool, store: str | None
) -> None:
    """Write a session as one HTML file: its forest, what its views cost, each step and block.

    The file opens offline and asks the network for nothing. It holds what was recorded: treat it like the session. One that is there is replaced.
    """
    from ctxfold.cli.report.write import report_session

    open_existing(session, store).close()
    file = out or Path(f"{session}.html")
    made = report_session(session, file, store, budget, screenshots)
    facts = {"file": str(file), "steps": made.steps, "branches": len(made.chapters), "bytes": file.stat().st_size}
    if as_json:
        print_json(facts)
        return
    click.echo(f"{file}: {counted(made.steps, 'step')}, {facts['bytes']:,} bytes")
