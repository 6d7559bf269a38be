"""`ctxfold doctor`: prints what works on this machine and how to fix the rest."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path

import click

from ctxfold.cli.options import escape_controls, json_option, print_json, store_option
from ctxfold.config import (
    EXPLORER,
    ROLES,
    Role,
    RoleSetting,
    default_store,
    endpoint,
    max_cost,
    role_setting,
    settings_file,
)
from ctxfold.errors import CtxfoldError
from ctxfold.text.words import counted


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing looked at. `fix`: the next move where it does not work, a command where there is one; `required`:
    whether ctxfold is of no use without it.
    """

    name: str
    ok: bool
    fact: str
    fix: str = ""
    required: bool = True


GROUP = "ctxfold.checks"
"""The entry-point group of further checks."""

LEAST_PYTHON = (3, 11)
REACH_SECONDS = 3.0
"""How long a model's server may take to answer at all."""


def run_checks(store: str | None = None) -> tuple[HealthCheck, ...]:
    """Look at everything: the core's own first, then what other packages bring. `store`: a store's path or URL, the
    configured one for None.
    """
    return (_check_python(), _check_store(store), _check_sqlite(), _check_tokens(), *_check_models(), *_load_others())


def _load_others() -> list[HealthCheck]:
    found = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            look: Callable[[], HealthCheck] = entry.load()
        except ImportError as error:
            found.append(
                HealthCheck(entry.name, False, f"does not load ({error})", "pip install --force-reinstall ctxfold")
            )
        else:
            found.append(look())
    return found


def _check_python() -> HealthCheck:
    fact = f"{platform.python_version()} at {sys.executable}"
    return HealthCheck("python", sys.version_info >= LEAST_PYTHON, fact, "install Python 3.11 or newer")


def _check_store(named: str | None) -> HealthCheck:
    try:
        place = named or default_store()
        if "://" not in place and not place.startswith("file:") and not Path(place).exists():
            return _check_place(Path(place))
        found, scrubbed = _look_into(place)
    except CtxfoldError as error:
        return HealthCheck(
            "store", False, str(error), "set CTXFOLD_HOME to a folder of your own, or move that file away"
        )
    fact = f"{place} ({counted(found, 'session')})"
    if scrubbed:
        return HealthCheck("store", True, fact)
    fact += " still holds bytes of what was redacted or deleted: another process is at work in it, or the disk is full"
    return HealthCheck(
        "store", False, fact, "wait for that process or end it, or free some space; then run `ctxfold doctor` again"
    )


def _look_into(place: str) -> tuple[int, bool]:
    """How many sessions a store holds, and whether nothing that was removed from it remains in its file.

    Raises CorruptStore: the file is damaged.
    """
    from ctxfold.store import open_store

    with open_store(place) as kept:
        kept.check()
        with kept.reading() as tx:
            found = len(tx.sessions.names())
        return found, kept.finish()


def _check_place(store: Path) -> HealthCheck:
    """Whether a store that is not there yet can be made."""
    folder = next(parent for parent in store.absolute().parents if parent.exists())
    writable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    fact = f"{store} (not there yet; made on first use)" if writable else f"{folder} cannot be written to"
    return HealthCheck("store", writable, fact, "set CTXFOLD_HOME to a folder you may write to")


def _check_sqlite() -> HealthCheck:
    from ctxfold.store.sqlite import sqlite_version

    return HealthCheck("sqlite", True, sqlite_version())


def _check_tokens() -> HealthCheck:
    from ctxfold.tokens import encoding

    fix = "pip install --force-reinstall ctxfold"
    try:
        table = encoding()
    except CtxfoldError as error:
        return HealthCheck("tokens", False, str(error), fix)
    return HealthCheck("tokens", True, f"{table.name}, {table.n_vocab:,} tokens, checksum as packed")


def _check_models() -> list[HealthCheck]:
    """The key, the settings file, each role's model, and each server of its own. No key is shown, or sent."""
    try:
        max_cost()
        agent = role_setting("agent")
    except CtxfoldError as error:
        return [HealthCheck("settings", False, str(error), "mend the settings, or move them away")]
    roles, servers = list[HealthCheck](), dict[str, None]()
    for role in ROLES:
        try:
            setting = role_setting(role)
        except CtxfoldError as error:
            roles.append(HealthCheck(role, False, str(error), f"set CTXFOLD_{role.upper()}_MODEL"))
            continue
        roles.append(_check_role(role, setting))
        servers |= {setting.endpoint: None} if setting.endpoint else {}
    local = endpoint()
    own = [(local.url, "ANTHROPIC_BASE_URL")] if local.local else []
    named = [(url, "the role's endpoint") for url in servers]
    return [_check_key(agent.model), _check_settings(), *roles, *(_check_endpoint(*each) for each in own + named)]


def _check_key(agent: str | None) -> HealthCheck:
    credential = endpoint().credential
    if credential is None and agent != EXPLORER:
        return HealthCheck("key", True, f"none of Anthropic's is set; {agent} decides")
    if credential is None:
        fact = "none set, so the embedded explorer decides; with a key Claude does"
        return HealthCheck("key", False, fact, "export ANTHROPIC_API_KEY=sk-ant-…", required=False)
    return HealthCheck("key", True, f"{credential} is set")


def _check_settings() -> HealthCheck:
    path = settings_file()
    there = str(path) if path.exists() else f"{path} (not there: variables and defaults alone)"
    limit = max_cost()
    return HealthCheck("settings", True, there if limit is None else f"{there}; a run may cost ${limit:g}")


def _check_role(role: Role, setting: RoleSetting) -> HealthCheck:
    """One role: its model, and where that, its server and its key come from. The agent's model is called `model`, as
    its option is.
    """
    from ctxfold.models import load, spending

    name = "model" if role == "agent" else role
    if setting.model is None:
        return HealthCheck(name, True, "the embedded decider")
    if setting.role != role:
        return HealthCheck(name, True, f"as the {setting.role}")
    try:
        load(setting.model, role)
        notice = spending().notice if role == "agent" else ""
    except CtxfoldError as error:
        variable = "CTXFOLD_MODEL" if role == "agent" else f"CTXFOLD_{role.upper()}_MODEL"
        return HealthCheck(name, False, str(error), f"set {variable} to one that can be used, or unset it")
    if setting.model == EXPLORER:
        return HealthCheck(name, True, setting.model)
    server = f", at {setting.endpoint}" if setting.endpoint else ""
    key = f", key from {setting.key[0]}" if setting.key else ""
    said = f" ({notice})" if notice else ""
    return HealthCheck(name, True, f"{setting.model}{server}{key}, by {setting.source}{said}")


def _check_endpoint(url: str, source: str) -> HealthCheck:
    """Whether a model's server answers at all; any status is an answer."""
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/v1/models", timeout=REACH_SECONDS):
            return HealthCheck("endpoint", True, f"{url} answers", required=False)
    except urllib.error.HTTPError as answer:
        answer.close()
        return HealthCheck("endpoint", True, f"{url} answers", required=False)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        fix = f"start that server, or correct {source}"
        return HealthCheck("endpoint", False, f"{url} does not answer ({reason})", fix, required=False)


LEAST = 40
WIDTH = 80
INDENT = " " * 16


@click.command()
@json_option
@store_option
@click.pass_context
def doctor(context: click.Context, as_json: bool, store: str | None) -> None:
    """Say what works on this machine, and the fix for what does not.

    Ends with 3 where something required is missing. The store loses the bytes of redacted or deleted text that were
    still waiting for their removal; nothing else changes, and no key is shown.
    """
    found = run_checks(store)
    works = all(check.ok or not check.required for check in found)
    if as_json:
        print_json({"ok": works, "checks": [replace(check, fix="") if check.ok else check for check in found]})
    else:
        click.echo("\n".join(map(_format_check, found)))
    if not works:
        context.exit(3)


def _format_check(check: HealthCheck) -> str:
    """One check: its mark, name and fact; beneath, the fix on a line of its own, ready to be copied."""
    mark = "ok" if check.ok else "FAIL" if check.required else "-"
    fact = textwrap.fill(
        f"{mark:<6}{check.name:<10}{escape_controls(check.fact)}",
        min(WIDTH, max(LEAST, shutil.get_terminal_size().columns)),
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return fact if check.ok or not check.fix else f"{fact}\n{INDENT}{check.fix}"
