"""`ctxfold serve`: the MCP server, on stdio or over HTTP. Nothing heavy is imported before the standard streams are taken."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ctxfold.cli.options import store_option

if TYPE_CHECKING:
    from browser_agent.agent.confirm import Confirm
    from ctxfold.models import Model
    from mcp_server.sessions.browsing import Web
    from mcp_server.tools.spec import Caps

__all__ = ["capabilities", "serve"]

_there = click.Path(exists=True, dir_okay=False, path_type=Path)
_folder = click.Path(file_okay=False, path_type=Path)


class Address(NamedTuple):
    """Where the server listens, and the further names that clients call it by."""

    host: str
    port: int
    names: tuple[str, ...]


@click.command(short_help="Serve sessions to an MCP host.")
@click.option(
    "--transport", type=click.Choice(["stdio", "http"]), default="stdio", show_default=True, help="How hosts reach it."
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="HTTP: the address to listen at. Another than loopback needs --token-file.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=8377,
    show_default=True,
    help="HTTP: the port; 0 for any that is free.",
)
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="HTTP: a file of tokens, one a line, each alone or after a name.",
)
@click.option("--allow-host", multiple=True, metavar="NAME", help="HTTP: a further name that clients call it by.")
@store_option
@click.option(
    "--caps",
    default="core",
    show_default=True,
    metavar="LIST",
    help="What is offered, with commas: core (sessions, runs) and browser (live pages).",
)
@click.option("--allow", multiple=True, metavar="DOMAIN", help="Browsers connect to these only.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME@DOMAIN=SOURCE",
    help="A value to type as <secret:NAME> on pages of DOMAIN; from env:VARIABLE or file:PATH.",
)
@click.option(
    "--confirm",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Ask the user before a submit, payment, deletion or message: away from the address a page was opened at, always, or never.",
)
@click.option("--headed", is_flag=True, help="Show the browsers.")
@click.option("--browser", "--executable", "executable", type=_there, metavar="PATH", help="The browser to start.")
@click.option("--storage-state", type=_there, metavar="FILE", help="Cookies and local storage pages begin with.")
@click.option("--model", metavar="NAME", help="Who decides the runs of browse, as for `ctxfold browse`.")
@click.option(
    "--folder-model",
    metavar="NAME",
    help="Who folds, plans and extracts what hosts leave to it; CTXFOLD_FOLDER_MODEL or none if not said.",
)
@click.option("--max-steps", type=int, default=200, show_default=True, metavar="N", help="The most steps of a run.")
@click.option("--max-cost", type=float, metavar="DOLLARS", help="The most a run's model may cost.")
@click.option("--uploads", type=_folder, multiple=True, metavar="FOLDER", help="Files below it may be uploaded.")
def serve(
    transport: str,
    host: str,
    port: int,
    token_file: Path | None,
    allow_host: tuple[str, ...],
    store: str | None,
    caps: str,
    allow: tuple[str, ...],
    secrets: tuple[str, ...],
    confirm: Confirm,
    headed: bool,
    executable: Path | None,
    storage_state: Path | None,
    model: str | None,
    folder_model: str | None,
    max_steps: int,
    max_cost: float | None,
    uploads: tuple[Path, ...],
) -> None:
    """Serve sessions to an MCP host.

    On stdio a host starts this itself; run by hand it waits for JSON-RPC. It ends when stdin closes, on SIGTERM or Ctrl-C, or when its parent is gone.
    """
    offered = capabilities(caps)

    def web() -> Web:
        from browser_agent.agent.settings import BrowserChoice, RunLimits
        from browser_agent.cli.options import read_secret
        from browser_agent.network.egress import Egress
        from mcp_server.sessions.browsing import Web

        Egress.of(allow)
        _check_model(model)
        choice = BrowserChoice(headed, executable, None, storage_state)
        limits = RunLimits(max_steps, dollars=max_cost)
        return Web(allow, tuple(read_secret(said, None) for said in secrets), confirm, choice, uploads, model, limits)

    if transport == "stdio":
        _stdio(store, offered, folder_model, web)
    else:
        _http(Address(host, port, allow_host), token_file, store, offered, folder_model, web)


def capabilities(said: str) -> tuple[Caps, ...]:
    """What is offered, from a list with commas. The sessions always are: a page is recorded in one.

    Raises:
        click.UsageError: a capability there is not.
    """
    known: dict[str, Caps] = {"core": "core", "browser": "browser"}
    wanted = ["core", *(name.strip() for name in said.split(",") if name.strip())]
    for name in wanted:
        if name not in known:
            raise click.UsageError(f"--caps knows core and browser, not {name!r}")
    return tuple(dict.fromkeys(known[name] for name in wanted))


def _check_model(named: str | None) -> None:
    """Refuse a model there is not; one that only lacks its key says so when a run begins.

    Raises:
        InputError: no such model, or a script that cannot be read.
    """
    from ctxfold.errors import ModelKeyMissing
    from ctxfold.models import load

    if named is not None:
        with suppress(ModelKeyMissing):
            load(named)


def _folds(named: str | None) -> Model | None:
    """The folder's model. Without its key the server serves all the same: it says so here, and where the embedded deciders did its work."""
    from ctxfold.models import Absent, folder

    model = folder(named, must=False)
    if isinstance(model, Absent):
        click.echo(f"the embedded deciders fold, plan and extract: {model.reason}", err=True)
    return model


def _stdio(store: str | None, caps: tuple[Caps, ...], named: str | None, web: Callable[[], Web]) -> None:
    from mcp_server.transport.stdio import claim

    wire = claim()
    from mcp_server.server import build_server
    from mcp_server.sessions.pool import Desks
    from mcp_server.transport.stdio import run_stdio

    desks = Desks(store, web=web(), folder=_folds(named))
    run_stdio(desks, build_server(desks, caps=caps), wire)


def _http(
    address: Address,
    token_file: Path | None,
    store: str | None,
    caps: tuple[Caps, ...],
    named: str | None,
    web: Callable[[], Web],
) -> None:
    from mcp_server.server import build_server
    from mcp_server.sessions.auth import read_tokens
    from mcp_server.sessions.pool import Desks
    from mcp_server.transport.http import Door, run_http

    tokens = read_tokens(token_file) if token_file else None
    door = Door(*address, open=tokens is None)
    desks = Desks(store, files=False, web=web(), folder=_folds(named))
    run_http(build_server(desks, tokens, caps), door)
