"""`ctxfold install HOST` and `ctxfold uninstall HOST`: add our entry to a host's settings, or remove it."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from functools import partial
from pathlib import Path

import click

from ctxfold.config import default_store, read
from ctxfold.errors import InputError
from mcp_server.cli.serve import CAPS
from mcp_server.install.formats import choose_editor
from mcp_server.install.hooks import HOOK_HOSTS, HOOKS, WRAPPED, plan_hooks, plan_no_hooks, plan_unwrap, plan_wrap
from mcp_server.install.hosts import (
    HOSTS,
    NEW_SESSION,
    ChangePlan,
    InstallHost,
    Launch,
    Machine,
    is_in_cache,
    plan_install,
    plan_uninstall,
    read_file,
)

_host = click.argument("host", metavar="HOST", type=click.Choice(sorted(HOSTS)))
_NAMES = f"HOST is one of {', '.join(sorted(HOSTS))}."
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
_wrap = partial(click.option, "--wrap", "server", metavar="SERVER")


@click.command(short_help="Register the MCP server with a host.", epilog=_NAMES)
@_host
@click.option("--caps", type=CAPS, default="core,browser", show_default=True, help="Which tools it offers.")
@_wrap(help="Put `ctxfold wrap` before this server of HOST, and don't register ours.")
@click.option("--hooks", is_flag=True, help="Let HOST run ctxfold at its hooks, and don't register the server.")
@_dry_run
def install(host: str, caps: str, server: str | None, hooks: bool, dry_run: bool) -> None:
    """Register the MCP server with HOST.

    The host's other settings and comments stay as they are, and a copy of the old file is kept in the same folder.
    Running it again changes nothing.
    """
    plan, target = ChangePlan(Path.home()), HOSTS[host]
    if hooks:
        for path in _list_hook_files(host):
            plan.add(plan_hooks(host, sys.executable, path, *plan.read(path, HOOKS)))
        _carry_out(plan, dry_run, HOOK_HOSTS[host].after)
        return
    options = ("--caps", "core") if caps == "core" else ()
    launch = _find_launch("wrap") if server else _find_launch("serve", *options)
    if is_in_cache(launch.command):
        click.echo(
            f"{launch.command} lies in a cache that may be emptied, and the host would then find nothing there: "
            "run `uv tool install ctxfold` or `pipx install ctxfold`, then this again",
            err=True,
        )
    if server:
        _check_server(target, server)
    for path in _list_files(target):
        if server:
            plan.add(plan_wrap(target, launch, server, path, plan.read(path, WRAPPED)))
        else:
            plan.add(plan_install(target, launch, path, *plan.read(path)))
    _carry_out(plan, dry_run, NEW_SESSION if server else target.after)


@click.command(short_help="Take the MCP server out of a host.", epilog=_NAMES)
@_host
@_wrap(help="Only give this server its own entry back.")
@click.option("--hooks", is_flag=True, help="Only take our hooks out.")
@_dry_run
def uninstall(host: str, server: str | None, hooks: bool, dry_run: bool) -> None:
    """Take the MCP server out of HOST's settings, and give wrapped servers their own entries back. Sessions stay.

    A file that nothing else has changed since gets its old bytes back, and so does a wrapped server's entry.
    """
    plan, target = ChangePlan(Path.home()), HOSTS[host]
    if hooks or (host in HOOK_HOSTS and server is None):
        for path in _list_hook_files(host):
            plan.add(plan_no_hooks(host, sys.executable, path, *plan.read(path, HOOKS)))
    for path in [] if hooks else _list_files(target):
        plan.add(plan_unwrap(target, server, path, plan.read(path, WRAPPED)))
        if server is None:
            plan.add(plan_uninstall(target, path, *plan.read(path)))
    _carry_out(plan, dry_run)


def _check_server(host: InstallHost, server: str) -> None:
    """Raises InputError: no settings file of the host has a server of that name."""
    names: dict[str, None] = {}
    for path in _list_files(host):
        servers = choose_editor(path).get(read_file(path) or "", host.path[:-1])
        names.update(dict.fromkeys(servers if isinstance(servers, dict) else ()))
    if server not in names:
        others = ", ".join(name for name in names if name != host.path[-1]) or "none"
        raise InputError(f"{host.name} has no server {server!r}; it has {others}")


def _list_hook_files(host: str) -> list[Path]:
    """The file of a host's hooks. Raises InputError: the host cannot run ours."""
    if host not in HOOK_HOSTS:
        raise InputError(f"{host} cannot run hooks of ctxfold; {', '.join(HOOK_HOSTS)} can")
    return [Path.home().joinpath(*HOOK_HOSTS[host].file)]


def _list_files(host: InstallHost) -> list[Path]:
    return [Path(path) for path in host.files(_describe_machine())]


def _carry_out(plan: ChangePlan, dry_run: bool, after: str = "") -> None:
    """Make the planned changes or show them, and name the next move."""
    if not dry_run:
        plan.make()
    for path, old, new in plan.list_changes():
        if old == new:
            click.echo(f"{path}: nothing to change")
        elif dry_run:
            before, now = ((text or "").splitlines(keepends=True) for text in (old, new))
            click.echo("".join(difflib.unified_diff(before, now, str(path), f"{path} (new)")), nl=False)
        else:
            click.echo(f"{path}: {'removed' if new is None else 'written'}")
    if after and not dry_run:
        click.echo(after)


def _find_launch(verb: str, *options: str) -> Launch:
    """How a host starts us: the command next to this Python, else the one on PATH, else this Python itself.

    The Python takes no module from the host's working directory (`-P`). A host passes on next to nothing of our
    environment, so `--store` names the file of a store that it sets; a URL is left out, because it may hold a password.
    Raises ReadOnlyStore: the folder for the store cannot be created.
    """
    name = "ctxfold.exe" if sys.platform == "win32" else "ctxfold"
    neighbour = Path(sys.executable).with_name(name)
    command = str(neighbour) if neighbour.is_file() else shutil.which("ctxfold")
    words = [os.path.abspath(command)] if command else [sys.executable, "-P", "-m", "ctxfold"]
    store = default_store() if read("CTXFOLD_HOME") or read("CTXFOLD_DATABASE_URL") else ""
    store_options = ("--store", os.path.abspath(store)) if store and "://" not in store else ()
    return Launch(words[0], (*words[1:], verb, *options, *store_options))


def _describe_machine() -> Machine:
    """This user's folders on this machine."""
    home = Path.home()
    if sys.platform == "win32":
        config = Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
        local = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
        return Machine(home, config, tuple(sorted(local.glob("Packages/Claude_*"))))
    if sys.platform == "darwin":
        return Machine(home, home / "Library" / "Application Support")
    return Machine(home, Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config"))
