"""`ctxfold serve`: runs the MCP server on stdio or over HTTP."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxfold.cli.options import announced, store_option

if TYPE_CHECKING:
    from browser_agent.agent.confirm import Confirm
    from ctxfold.models import Roles
    from mcp_server.sessions.browsing import BrowsingSettings
    from mcp_server.tools.spec import Caps

__all__ = ["parse_caps", "serve"]

_there = click.Path(exists=True, dir_okay=False, path_type=Path)
_file = click.Path(dir_okay=False, path_type=Path)
_folder = click.Path(file_okay=False, path_type=Path)
_option = partial(click.option, show_default=True)


@click.command(short_help="Serve sessions to an MCP host.")
@_option("--transport", type=click.Choice(["stdio", "http"]), default="stdio", help="How hosts reach it.")
@_option(
    "--host", metavar="ADDRESS", default="127.0.0.1", help="HTTP: where to listen; beyond loopback needs --token-file."
)
@_option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=8377, help="HTTP: the port; 0 for any that is free."
)
@_option("--token-file", type=_file, help="HTTP: a file of tokens, one a line, each alone or after a name.")
@_option("--allow-host", multiple=True, metavar="NAME", help="HTTP: a further name that clients call it by.")
@store_option
@_option(
    "--caps",
    default="core,browser",
    metavar="LIST",
    help="core (sessions, runs) alone, or core,browser with live pages.",
)
@_option(
    "--folder-model", metavar="NAME", help="Who folds, plans and extracts; CTXFOLD_FOLDER_MODEL or none if not said."
)
@_option("--allow", multiple=True, metavar="DOMAIN", help="Browsers connect to these only.")
@_option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME@DOMAIN=SOURCE",
    help="A value to type as <secret:NAME> on pages of DOMAIN, or DOMAIN:PORT; from env:VARIABLE or file:PATH.",
)
@_option(
    "--confirm",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Ask the user before a page sends what has effects after an act: where no --trust covers it, always, or never.",
)
@_option("--trust", multiple=True, metavar="DOMAIN", help="Pages of it may send what they like after an act, unasked.")
@_option("--headed", is_flag=True, help="Show the browsers.")
@_option("--browser", "--executable", "executable", type=_there, metavar="PATH", help="The browser to start.")
@_option("--storage-state", type=_there, metavar="FILE", help="Cookies and local storage pages begin with.")
@_option("--model", metavar="NAME", help="Who decides the runs of browse, as for `ctxfold browse`.")
@_option("--max-steps", type=int, default=200, metavar="N", help="The most steps of a run.")
@_option("--max-cost", type=float, metavar="DOLLARS", help="The most a run's model may cost; 1 dollar if not said.")
@_option("--uploads", type=_folder, multiple=True, metavar="FOLDER", help="Files below it may be uploaded.")
def serve(
    transport: str,
    host: str,
    port: int,
    token_file: Path | None,
    allow_host: tuple[str, ...],
    store: str | None,
    caps: str,
    folder_model: str | None,
    **browsing: Any,
) -> None:
    """Serve sessions to an MCP host.

    On stdio a host starts this itself; run by hand it waits for JSON-RPC. It ends when stdin closes, on SIGTERM or Ctrl-C, or when its parent is gone.
    """
    offered = parse_caps(caps)
    from mcp_server.transport.pipes import claim_pipes

    pipes = claim_pipes() if transport == "stdio" else None
    from mcp_server.server import build_server
    from mcp_server.sessions.pool import Pools

    helping = _load_folder(folder_model)
    pools = Pools(store, pipes is not None, _read_settings(helping, **browsing), helping)
    if "browser" in offered:
        click.echo(_name_browser(browsing["executable"]), err=True)
    if pipes is not None:
        from mcp_server.transport.stdio import run_stdio

        run_stdio(pools, build_server(pools, caps=offered), pipes)
    from mcp_server.sessions.auth import read_tokens
    from mcp_server.transport.http import Address, run_http

    tokens = read_tokens(token_file) if token_file else None
    address = Address(host, port, allow_host, open=tokens is None)
    run_http(build_server(pools, tokens, offered), address)


def _read_settings(
    helping: Roles,
    allow: tuple[str, ...],
    secrets: tuple[str, ...],
    confirm: Confirm,
    trust: tuple[str, ...],
    headed: bool,
    executable: Path | None,
    storage_state: Path | None,
    model: str | None,
    max_steps: int,
    max_cost: float | None,
    uploads: tuple[Path, ...],
) -> BrowsingSettings:
    """How the server browses, checked before anything is served. A model that only lacks its key says so when a run begins.

    Raises:
        InputError: a domain or secret in another form, no such model, or a script that cannot be read.
    """
    from browser_agent.agent.settings import BrowserChoice, RunLimits
    from browser_agent.cli.options import read_secret
    from browser_agent.network.egress import Egress
    from ctxfold.errors import ModelKeyMissing
    from ctxfold.models import load
    from mcp_server.sessions.browsing import BrowsingSettings

    Egress.of(allow)
    Egress.of(trust)
    if model is not None:
        with suppress(ModelKeyMissing):
            load(model)
    announced(model, max_cost, helping, "browse: ")
    choice = BrowserChoice(headed, executable, None, storage_state)
    limits = RunLimits(max_steps, dollars=max_cost)
    given = tuple(read_secret(each, None) for each in secrets)
    return BrowsingSettings(allow, given, confirm, choice, uploads, model, limits, trust)


def _name_browser(given: Path | None) -> str:
    """Which browser shows the live pages, in one line."""
    from browser_agent.browser.install import installed

    found = given or next(installed(), None)
    return (
        f"live pages: {found}" if found else "live pages: no browser is installed; `ctxfold doctor` says how to get one"
    )


def parse_caps(given: str) -> tuple[Caps, ...]:
    """What is offered, from a list with commas. The sessions always are: a page is recorded in one. Raises click.UsageError: a capability there is not."""
    known: dict[str, Caps] = {"core": "core", "browser": "browser"}
    wanted = ["core", *(name.strip() for name in given.split(",") if name.strip())]
    for name in wanted:
        if name not in known:
            raise click.UsageError(f"--caps knows core and browser, not {name!r}")
    return tuple(dict.fromkeys(known[name] for name in wanted))


def _load_folder(name: str | None) -> Roles:
    """The helping models. Without a key the server serves all the same: it says so here, and where the embedded deciders did the work."""
    from ctxfold.models import helpers

    found = helpers(name, must=False)
    for model in found.absent:
        click.echo(f"the embedded deciders stand in for {model.name}: {model.reason}", err=True)
    return found
