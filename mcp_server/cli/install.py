"""`ctxfold install HOST` and `ctxfold uninstall HOST`: add our entry to a host's settings, or remove it."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import click

from ctxfold.config import default_store
from mcp_server.cli.serve import parse_caps
from mcp_server.install.files import apply, name_backup, read
from mcp_server.install.hosts import HOSTS, Host, Launch, Machine, is_passing
from mcp_server.install.plan import Change, plan_install, plan_uninstall

__all__ = ["install", "uninstall"]

_host = click.argument("host", metavar="HOST", type=click.Choice(sorted(HOSTS)))
_NAMES = f"HOST is one of {', '.join(sorted(HOSTS))}."
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")


@click.command(short_help="Register the MCP server with a host.", epilog=_NAMES)
@_host
@click.option(
    "--caps",
    default="core,browser",
    show_default=True,
    metavar="LIST",
    help="What it offers, as `ctxfold serve` has it.",
)
@_dry_run
def install(host: str, caps: str, dry_run: bool) -> None:
    """Register the MCP server with HOST.

    The host's other settings stay as they are, comments and all, and the file as it was is kept beside it. Running it again changes nothing.
    """
    offered = parse_caps(caps)
    launch = _find_launch(("--caps", "core") if offered == ("core",) else ())
    if is_passing(launch.command):
        click.echo(
            f"{launch.command} lies in a cache that may be emptied, and the host would then find nothing there: "
            "run `uv tool install ctxfold` or `pipx install ctxfold`, then this again",
            err=True,
        )
    known = HOSTS[host]
    _carry_out(known, lambda path: plan_install(known, launch, path, read(path), read(name_backup(path))), dry_run)
    click.echo(known.after)


@click.command(short_help="Take the MCP server out of a host.", epilog=_NAMES)
@_host
@_dry_run
def uninstall(host: str, dry_run: bool) -> None:
    """Take the MCP server out of HOST's configuration; sessions stay.

    A file that nothing else has changed since is put back as it was to the byte.
    """
    known = HOSTS[host]
    _carry_out(known, lambda path: plan_uninstall(known, path, read(path), read(name_backup(path))), dry_run)


def _carry_out(host: Host, plan: Callable[[Path], Change], dry_run: bool) -> None:
    changes = [plan(Path(path)) for path in host.files(_describe_machine())]
    for change in changes:
        if dry_run and change.changes:
            before, after = (text.splitlines(keepends=True) if text else [] for text in (change.before, change.after))
            click.echo("".join(difflib.unified_diff(before, after, str(change.path), f"{change.path} (new)")), nl=False)
        elif change.changes:
            apply(change)
            click.echo(f"{change.path}: {'removed' if change.after is None else 'written'}")
        else:
            click.echo(f"{change.path}: nothing to change")


def _find_launch(options: tuple[str, ...]) -> Launch:
    """How a host starts us: the command that lies beside this Python, else the one on PATH, else this Python itself.

    A host passes on next to nothing of this shell's environment, so a store file that it names is named again; a URL is not, for it may hold a password.
    """
    name = "ctxfold.exe" if sys.platform == "win32" else "ctxfold"
    beside = Path(sys.executable).with_name(name)
    command = str(beside) if beside.is_file() else shutil.which("ctxfold")
    words = [os.path.abspath(command)] if command else [sys.executable, "-m", "ctxfold"]
    store = default_store()
    named = ("--store", os.path.abspath(store)) if os.environ.get("CTXFOLD_HOME") and "://" not in store else ()
    return Launch(words[0], (*words[1:], "serve", *options, *named))


def _describe_machine() -> Machine:
    """Where this user's things lie on this machine."""
    home = Path.home()
    if sys.platform == "win32":
        config = Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
        local = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
        return Machine(home, config, tuple(sorted(local.glob("Packages/Claude_*"))))
    if sys.platform == "darwin":
        return Machine(home, home / "Library" / "Application Support")
    return Machine(home, Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config"))
