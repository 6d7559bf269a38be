"""`ctxfold wrap -- COMMAND…`: any MCP server behind ours, its long results bounded and kept."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import PurePath

import click

from ctxfold.cli.options import store_option

__all__ = ["wrap"]

_BUDGET = 2_000
_NAME = 40
"""Characters of a session's name that tell of the server."""


@click.command(short_help="Put an MCP server behind ours: long results bounded, all of them kept.")
@click.option(
    "--budget", type=int, default=_BUDGET, show_default=True, metavar="TOKENS", help="The most one result may cost."
)
@click.option("--session", metavar="NAME", help="Where results are kept; one of this server and folder if not said.")
@click.option("--url", metavar="URL", help="A server over HTTP, in place of a command.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --url: sent with each request; env:VARIABLE keeps a secret off the command line.",
)
@click.option("--measure", is_flag=True, help="Change and keep nothing; say at the end what would be saved.")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="How long a call may be without any sign of the server.",
)
@store_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def wrap(
    budget: int,
    session: str | None,
    url: str | None,
    headers: tuple[str, ...],
    measure: bool,
    timeout: float,
    store: str | None,
    command: tuple[str, ...],
) -> None:
    """Start COMMAND, or reach the server at a URL, and answer a host in its place.

    Its tools, resources, prompts and requests pass as they are. A tool's result above the budget passes bounded: what changed, exact rows, or the parts that
    tell most, and all of it by `recall`, a tool that is added. It is on the disk before the host sees anything else; where that fails, the original passes.
    """
    if bool(command) == bool(url):
        raise click.UsageError("give either `-- COMMAND…` or --url URL")
    from ctxfold.errors import BudgetError
    from ctxfold.session.history.branches import check_name
    from ctxfold.view.bounded import LEAST

    if budget < LEAST:
        raise BudgetError(f"a budget of {budget} tokens is too small for a result: give at least {LEAST}")
    name = session or _name_session((url,) if url else command)
    check_name(name)
    from mcp_server.transport.pipes import claim_pipes

    pipes = claim_pipes()
    from mcp_server.wrap.keeper import Keeper, Settings
    from mcp_server.wrap.run import Target, run_wrap

    keeper = Keeper(Settings(name, store, budget, measure))
    run_wrap(Target(command, dict(os.environ), url or "", dict(map(_read_header, headers)), timeout), keeper, pipes)


def _name_session(words: Sequence[str]) -> str:
    """The name of the session for one server in one folder: the same at each start, so that what was kept is there again."""
    told = next((word for word in reversed(words) if re.search(r"server|mcp", word)), words[0])
    slug = re.sub(r"[^a-z0-9]+", "-", PurePath(told).name.lower() or told.lower()).strip("-")[:_NAME]
    mark = hashlib.sha256("\0".join([os.getcwd(), *words]).encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"wrap-{slug}-{mark}" if slug else f"wrap-{mark}"


def _read_header(given: str) -> tuple[str, str]:
    name, mark, value = given.partition("=")
    if not (name and mark):
        raise click.UsageError("--header is NAME=VALUE, or NAME=env:VARIABLE")
    kind, _, variable = value.partition(":")
    if kind == "env" and variable not in os.environ:
        raise click.UsageError(f"--header {name} names the variable {variable}, which is not set")
    return name, os.environ[variable] if kind == "env" else value
