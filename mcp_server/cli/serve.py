"""`ctxfold serve`: the MCP server, on stdio or over HTTP. Nothing heavy is imported before the standard streams are taken."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["serve"]


@click.command(short_help="Serve sessions to an MCP host.")
@click.option(
    "--transport", type=click.Choice(["stdio", "http"]), default="stdio", show_default=True, help="How hosts reach it."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="HTTP: the address to listen at. Another than loopback needs --token-file.",
)
@click.option(
    "--port",
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
@click.option("--allow-host", multiple=True, help="HTTP: a further name that clients call it by.")
@click.option("--store", help="Where sessions are kept; the configured default if not said.")
def serve(
    transport: str, host: str, port: int, token_file: Path | None, allow_host: tuple[str, ...], store: str | None
) -> None:
    """Serve sessions to an MCP host.

    On stdio a host starts this itself; run by hand it waits for JSON-RPC. It ends when stdin closes, on SIGTERM or Ctrl-C, or when its parent is gone.
    """
    if transport == "stdio":
        _stdio(store)
    else:
        _http(host, port, token_file, allow_host, store)


def _stdio(store: str | None) -> None:
    from mcp_server.wire import claim

    wire = claim()
    from mcp_server.desk import Desks
    from mcp_server.life import run_stdio
    from mcp_server.server import build_server

    desks = Desks(store)
    run_stdio(desks, build_server(desks), wire)


def _http(host: str, port: int, token_file: Path | None, names: tuple[str, ...], store: str | None) -> None:
    from mcp_server.desk import Desks
    from mcp_server.http import Door, run_http
    from mcp_server.server import build_server
    from mcp_server.tokens import read_tokens

    tokens = read_tokens(token_file) if token_file else None
    door = Door(host, port, names, open=tokens is None)
    run_http(build_server(Desks(store, files=False), tokens), door)
