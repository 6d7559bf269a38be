"""`ctxfold serve`, `wrap` and `hook`: their options, checked before anything runs."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, cast

import click

from ctxfold.cli.options import choose_model, fold_at_option, micro_option, rules_option, store_option

if TYPE_CHECKING:
    from ctxfold.models import Roles
    from mcp_server.sessions.browsing import BrowsingSettings
    from mcp_server.tools import Caps


_there = click.Path(exists=True, dir_okay=False, path_type=Path)
_file = click.Path(dir_okay=False, path_type=Path)
_folder = click.Path(file_okay=False, path_type=Path)
_option = partial(click.option, show_default=True)
CAPS = click.Choice(["core", "core,browser"])


@click.command(short_help="Serve sessions to an MCP host.")
@_option("--transport", type=click.Choice(["stdio", "http"]), default="stdio", help="How hosts reach it.")
@_option("--host", metavar="ADDRESS", default="127.0.0.1", help="HTTP: the address; beyond loopback with tokens only.")
@_option("--port", type=click.IntRange(0, 65535), default=8377, help="HTTP: the port; 0 for any that is free.")
@_option("--token-file", type=_file, help="HTTP: a file of tokens, one a line, each alone or after a name.")
@_option("--allow-host", multiple=True, metavar="NAME", help="HTTP: a further name that clients call it by.")
@store_option
@fold_at_option
@micro_option
@rules_option
@_option("--caps", type=CAPS, default="core,browser", help="core (sessions, runs) alone, or with live pages.")
@_option("--folder-model", metavar="NAME", help="Who folds, plans and extracts; default: CTXFOLD_FOLDER_MODEL.")
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
    help="Ask the user before an act lets a page send something: auto asks where no --trust covers it.",
)
@_option("--trust", multiple=True, metavar="DOMAIN", help="Let pages of it send anything after an act without asking.")
@_option("--headed", is_flag=True, help="Show the browsers.")
@_option("--browser", "--executable", "executable", type=_there, metavar="PATH", help="The browser to start.")
@_option("--storage-state", type=_there, metavar="FILE", help="Cookies and local storage pages begin with.")
@_option("--model", metavar="NAME", help="Who decides the runs of browse, as for `ctxfold browse`.")
@_option("--max-steps", type=int, default=200, metavar="N", help="The most steps of a run.")
@_option("--max-cost", type=float, metavar="DOLLARS", help="The most a run's model may cost; default: 1 dollar.")
@_option("--uploads", type=_folder, multiple=True, metavar="FOLDER", help="Files below it may be uploaded.")
def serve(
    transport: str, host: str, port: int, token_file: Path | None, allow_host: tuple[str, ...], store: str | None,
    caps: str, folder_model: str | None, **browsing: Any,
) -> None:  # fmt: skip
    """Serve sessions to an MCP host.

    On stdio a host starts this itself; run by hand it waits for JSON-RPC. It ends when stdin closes, on SIGTERM or
    Ctrl-C, or when its parent is gone.
    """
    from mcp_server.transport.stdio import claim_pipes

    pipes = claim_pipes() if transport == "stdio" else None
    from mcp_server.server import build_server
    from mcp_server.sessions.pool import Pools

    helping, offered = _load_folder(folder_model), cast("list[Caps]", caps.split(","))
    pools = Pools(store, pipes is not None, _read_settings(helping, browsing), helping)
    if "browser" in offered:
        click.echo(_name_browser(browsing["executable"]), err=True)
    if pipes is not None:
        from mcp_server.transport.stdio import run_until_end, serve_pipes

        run_until_end(partial(serve_pipes, build_server(pools, caps=offered), pipes), pools.close)
    from mcp_server.transport.http import ListenAddress, read_tokens, run_http

    tokens = read_tokens(token_file) if token_file else None
    address = ListenAddress(host, port, allow_host, open=tokens is None)
    run_http(build_server(pools, tokens, offered), address)


def _read_settings(helping: Roles, given: Mapping[str, Any]) -> BrowsingSettings:
    """How the server browses, from the options. A model that only lacks its key is reported when a run begins.

    Raises:
        InputError: a malformed domain or secret, an unknown model, or a script that cannot be read.
    """
    from browser_agent.agent.result import Safety
    from browser_agent.agent.settings import BrowserChoice, RunLimits
    from browser_agent.cli.request import read_secret
    from browser_agent.network.egress import Egress
    from ctxfold.errors import ModelKeyMissing
    from ctxfold.models import load
    from mcp_server.sessions.browsing import BrowsingSettings

    Egress.of(given["allow"])
    if given["model"] is not None:
        with suppress(ModelKeyMissing):
            load(given["model"])
    choose_model(given["model"], given["max_cost"], helping, "browse: ")
    secrets = tuple(read_secret(secret, None) for secret in given["secrets"])
    return BrowsingSettings(
        Safety(given["allow"], secrets, given["confirm"], trust=given["trust"]),
        BrowserChoice(given["headed"], given["executable"], None, given["storage_state"]),
        given["uploads"],
        given["model"],
        RunLimits(given["max_steps"], dollars=given["max_cost"]),
    )


def _name_browser(given: Path | None) -> str:
    """Name the browser of the live pages, in one line."""
    from browser_agent.browser.process import find_browsers

    browser = given or next(find_browsers(), "no browser is installed; `ctxfold doctor` says how to get one")
    return f"live pages: {browser}"


def _load_folder(name: str | None) -> Roles:
    """The folder's models. Without a key the server runs all the same, with the embedded deciders, and says so."""
    from ctxfold.models import helpers

    roles = helpers(name, must=False)
    for model in roles.absent:
        click.echo(f"the embedded deciders take the place of {model.name}: {model.reason}", err=True)
    return roles


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


_NAME = 40
"""Characters of a session's name that come from the server's command."""


@click.command(short_help="Run an MCP server with long results shortened, and all of them kept.")
@_option("--budget", type=int, default=2_000, metavar="TOKENS", help="The most tokens of one result.")
@click.option("--session", metavar="NAME", help="Where results are kept; by default one for this server and folder.")
@click.option("--url", metavar="URL", help="A server over HTTP, not a command.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --url: sent with each request; env:VARIABLE keeps a secret off the command line.",
)
@store_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def wrap(
    budget: int, session: str | None, url: str | None, headers: tuple[str, ...], store: str | None,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    """Start COMMAND, or connect to the server at a URL, and serve a host as it would.

    Its tools, resources, prompts and requests pass as they are. A tool's result above the budget is shortened to
    changes, exact rows or the most telling parts; `recall`, a tool that is added, returns all of it. It is on the disk
    before the host sees the shorter one. If it cannot be kept, the original passes.
    """
    if bool(command) == bool(url):
        raise click.UsageError("give either `-- COMMAND…` or --url URL")
    from ctxfold.errors import BudgetError
    from ctxfold.session.branches import check_name
    from ctxfold.view.result import LEAST

    if budget < LEAST:
        raise BudgetError(f"a budget of {budget} tokens is too small for a result: give at least {LEAST}")
    name = session or _name_session((url,) if url else command)
    check_name(name)
    from mcp_server.transport.stdio import claim_pipes

    pipes = claim_pipes()
    from mcp_server.wrap.ends import WrapTarget
    from mcp_server.wrap.keeper import Keeper, KeeperSettings
    from mcp_server.wrap.proxy import run_wrap

    keeper = Keeper(KeeperSettings(name, store, budget))
    run_wrap(WrapTarget(command, dict(os.environ), url or "", dict(map(_read_header, headers))), keeper, pipes)


def _name_session(words: Sequence[str]) -> str:
    """The name of the session for one server in one folder. It is the same at each start."""
    word = next((word for word in reversed(words) if re.search(r"server|mcp", word)), words[0])
    slug = re.sub(r"[^a-z0-9]+", "-", PurePath(word).name.lower() or word.lower()).strip("-")[:_NAME]
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
