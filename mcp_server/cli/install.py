"""`ctxfold install HOST` and `ctxfold uninstall HOST`: add our entry to a host's settings, or remove it."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from functools import partial
from pathlib import Path

import click

from ctxfold.config import default_store
from ctxfold.errors import InputError
from mcp_server.cli.serve import parse_caps
from mcp_server.install.hooks import HOOKED, HOOKS, WRAPPED, plan_hooks, plan_no_hooks, plan_unwrap, plan_wrap
from mcp_server.install.hosts import (
    HOSTS,
    Desk,
    Host,
    Launch,
    Machine,
    choose_editor,
    is_passing,
    name_backup,
    plan_install,
    plan_uninstall,
    read,
)

__all__ = ["install", "uninstall"]

_host = click.argument("host", metavar="HOST", type=click.Choice(sorted(HOSTS)))
_ANEW = "Start a new session of the host to use it."
_NAMES = f"HOST is one of {', '.join(sorted(HOSTS))}."
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
_wrapped = partial(click.option, "--wrap", "server", metavar="SERVER")


@click.command(short_help="Register the MCP server with a host.", epilog=_NAMES)
@_host
@click.option(
    "--caps",
    default="core,browser",
    show_default=True,
    metavar="LIST",
    help="What it offers, as `ctxfold serve` has it.",
)
@_wrapped(help="Put `ctxfold wrap` before a server that HOST has, in place of registering ours.")
@click.option("--hooks", is_flag=True, help="Let HOST run ctxfold at its hooks, in place of registering the server.")
@_dry_run
def install(host: str, caps: str, server: str | None, hooks: bool, dry_run: bool) -> None:
    """Register the MCP server with HOST.

    The host's other settings stay as they are, comments and all, and the file as it was is kept beside it. Running it again changes nothing.
    """
    desk = Desk(Path.home())
    if hooks:
        for path in _hook_files(host):
            desk.plan(plan_hooks(host, sys.executable, path, desk.read(path), desk.read(name_backup(path, HOOKS))))
        _carry_out(desk, dry_run, HOOKED[host].after, HOSTS[host])
        return
    offered = parse_caps(caps)
    options = ("--caps", "core") if offered == ("core",) else ()
    launch = _find_launch("wrap") if server else _find_launch("serve", *options)
    if is_passing(launch.command):
        click.echo(
            f"{launch.command} lies in a cache that may be emptied, and the host would then find nothing there: "
            "run `uv tool install ctxfold` or `pipx install ctxfold`, then this again",
            err=True,
        )
    known = HOSTS[host]
    if server:
        _check_server(known, server)

    for path in _files(known):
        if server:
            desk.plan(plan_wrap(known, launch, server, path, _read_both(desk, path)))
        else:
            desk.plan(plan_install(known, launch, path, desk.read(path), desk.read(name_backup(path))))
    _carry_out(desk, dry_run, _ANEW if server else known.after, known)


@click.command(short_help="Take the MCP server out of a host.", epilog=_NAMES)
@_host
@_wrapped(help="Only give this server its own entry back.")
@click.option("--hooks", is_flag=True, help="Only take our hooks out.")
@_dry_run
def uninstall(host: str, server: str | None, hooks: bool, dry_run: bool) -> None:
    """Take the MCP server out of HOST's configuration, and give wrapped servers their own entries back; sessions stay.

    A file that nothing else has changed since is put back as it was to the byte, and so is the entry of a wrapped server.
    """
    desk, known = Desk(Path.home()), HOSTS[host]
    if hooks or (host in HOOKED and server is None):
        for path in _hook_files(host):
            desk.plan(plan_no_hooks(host, sys.executable, path, desk.read(path), desk.read(name_backup(path, HOOKS))))
    for path in [] if hooks else _files(known):
        desk.plan(plan_unwrap(known, server, path, _read_both(desk, path)))
        if server is None:
            desk.plan(plan_uninstall(known, path, desk.read(path), desk.read(name_backup(path))))
    _carry_out(desk, dry_run)


def _check_server(host: Host, server: str) -> None:
    """Raises InputError where no settings file of the host has a server of that name."""
    named: dict[str, None] = {}
    for path in map(Path, host.files(_describe_machine())):
        there = choose_editor(path).get(read(path) or "", host.path[:-1])
        named.update(dict.fromkeys(there if isinstance(there, dict) else ()))
    if server not in named:
        known = ", ".join(name for name in named if name != host.path[-1]) or "none"
        raise InputError(f"{host.name} has no server {server!r}; it has {known}")


def _read_both(desk: Desk, path: Path) -> tuple[str | None, str | None]:
    """A settings file, and what is kept of the servers in it that are wrapped."""
    return desk.read(path), desk.read(name_backup(path, WRAPPED))


def _hook_files(host: str) -> list[Path]:
    """The file of a host's hooks. Raises InputError where we have none for it."""
    if host not in HOOKED:
        raise InputError(f"{host} runs no hooks of ours; {', '.join(HOOKED)} do")
    return [Path.home().joinpath(*HOOKED[host].file)]


def _files(host: Host) -> list[Path]:
    return [Path(path) for path in host.files(_describe_machine())]


def _carry_out(desk: Desk, dry_run: bool, then: str = "", host: Host | None = None) -> None:
    """Make what was planned, or show it; then say what is to be done next, where it was made. A host that is not on this machine is named first."""
    if host is not None and not _is_here(host):
        anyway = "" if dry_run else f": written anyway; `ctxfold uninstall {host.name}` takes it out again"
        click.echo(f"{host.name} was not found on this machine{anyway}", err=True)
    if not dry_run:
        desk.make()
    for path, (before, after) in desk.files.items():
        if before == after:
            click.echo(f"{path}: nothing to change")
        elif dry_run:
            old, new = (text.splitlines(keepends=True) if text else [] for text in (before, after))
            click.echo("".join(difflib.unified_diff(old, new, str(path), f"{path} (new)")), nl=False)
        else:
            click.echo(f"{path}: {'removed' if after is None else 'written'}")
    if then and not dry_run:
        click.echo(then)


def _is_here(host: Host) -> bool:
    """Whether a host was installed or has run on this machine."""
    found = any(Path(path).exists() for path in host.traces(_describe_machine()))
    return found or (host.program != "" and shutil.which(host.program) is not None)


def _find_launch(verb: str, *options: str) -> Launch:
    """How a host starts us: the command that lies beside this Python, else the one on PATH, else this Python itself.

    A host passes on next to nothing of this shell's environment, so a store file that it names is named again; a URL is not, for it may hold a password.
    """
    name = "ctxfold.exe" if sys.platform == "win32" else "ctxfold"
    beside = Path(sys.executable).with_name(name)
    command = str(beside) if beside.is_file() else shutil.which("ctxfold")
    words = [os.path.abspath(command)] if command else [sys.executable, "-m", "ctxfold"]
    store = default_store() if os.environ.get("CTXFOLD_HOME") else ""
    named = ("--store", os.path.abspath(store)) if store and "://" not in store else ()
    return Launch(words[0], (*words[1:], verb, *options, *named))


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
