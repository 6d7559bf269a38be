"""`ctxfold doctor`: prints what works on this machine and how to fix the rest."""

from __future__ import annotations

import os
import platform
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path

from ctxfold.cli.options import Printout, data_command
from ctxfold.config import EXPLORER, ROLES, Role, default_store, endpoint, max_cost, role_setting, settings_file
from ctxfold.errors import CtxfoldError
from ctxfold.store import is_there, open_store
from ctxfold.store.sqlite import sqlite_version
from ctxfold.text.words import counted
from ctxfold.tokens import encoding


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
REINSTALL = "pip install --force-reinstall ctxfold"

REACH_SECONDS = 3.0
"""How long a model's server may take to answer at all."""


def run_checks(store: str | None = None) -> tuple[HealthCheck, ...]:
    """Look at everything: the core's own first, then what other packages bring. `store`: a store's path or URL, the
    configured one for None.
    """
    python = HealthCheck("python", True, f"{platform.python_version()} at {sys.executable}")
    sqlite = HealthCheck("sqlite", True, sqlite_version())
    return (python, _check_store(store), sqlite, _check_tokens(), *_check_models(), *_load_others())


def _load_others() -> Iterator[HealthCheck]:
    """The checks of other packages."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            look: Callable[[], HealthCheck] = entry.load()
        except (ImportError, AttributeError) as error:
            yield HealthCheck(entry.name, False, f"does not load ({error})", REINSTALL)
        else:
            yield look()


def _check_store(named: str | None) -> HealthCheck:
    """Whether the store opens and is whole, or can be made, and keeps nothing that was removed from it."""
    try:
        place = named or default_store()
        if not is_there(place):
            return _check_place(Path(place))
        with open_store(place) as store:
            store.check()
            with store.reading() as tx:
                fact = f"{place} ({counted(len(tx.sessions.names()), 'session')})"
            if store.finish():
                return HealthCheck("store", True, fact)
    except CtxfoldError as error:
        return HealthCheck("store", False, str(error), "set CTXFOLD_HOME to a folder of yours, or move that file away")
    fact += " still holds bytes of what was redacted or deleted: another process is at work in it, or the disk is full"
    fix = "wait for that process or end it, or free some space; then run `ctxfold doctor` again"
    return HealthCheck("store", False, fact, fix)


def _check_place(store: Path) -> HealthCheck:
    """Whether a store that is not there yet can be made."""
    folder = next(parent for parent in store.absolute().parents if parent.exists())
    writable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    fact = f"{store} (not there yet; made on first use)" if writable else f"{folder} cannot be written to"
    return HealthCheck("store", writable, fact, "set CTXFOLD_HOME to a folder you may write to")


def _check_tokens() -> HealthCheck:
    """Whether the table that tokens are counted by is as it was packed."""
    try:
        table = encoding()
    except CtxfoldError as error:
        return HealthCheck("tokens", False, str(error), REINSTALL)
    return HealthCheck("tokens", True, f"{table.name}, {table.n_vocab:,} tokens, checksum as packed")


def _check_models() -> list[HealthCheck]:
    """The key, the settings file, each role's model, and each server of its own. No key is shown, or sent."""
    path = settings_file()
    try:
        limit, agent = max_cost(), role_setting("agent")
    except CtxfoldError as error:
        return [HealthCheck("settings", False, str(error), "mend the settings, or move them away")]
    settings = str(path) if path.exists() else f"{path} (not there: variables and defaults alone)"
    settings += "" if limit is None else f"; a run may cost ${limit:g}"
    own = endpoint()
    servers = {own.url: "ANTHROPIC_BASE_URL"} if own.local else {}
    roles = [_check_role(role, servers) for role in ROLES]
    key = HealthCheck("key", True, f"{own.credential} is set" if own.credential else f"none set; {agent.model} decides")
    if own.credential is None and agent.model == EXPLORER:
        fact = "none set, so the embedded explorer decides; with a key Claude does"
        key = HealthCheck("key", False, fact, "export ANTHROPIC_API_KEY=sk-ant-…", required=False)
    reached = [_check_endpoint(url, source) for url, source in servers.items()]
    return [key, HealthCheck("settings", True, settings), *roles, *reached]


def _check_role(role: Role, servers: dict[str, str]) -> HealthCheck:
    """One role: its model, and where that, its server and its key come from. The agent's model is called `model`, as
    its option is. A server of its own is added to `servers`.
    """
    from ctxfold.models import load, spending

    name = "model" if role == "agent" else role
    try:
        setting = role_setting(role)
        if setting.model is None:
            return HealthCheck(name, True, "the embedded decider")
        if setting.role != role:
            return HealthCheck(name, True, f"as the {setting.role}")
        load(setting.model, role)
        notice = spending().notice if role == "agent" else ""
    except CtxfoldError as error:
        fix = f"set CTXFOLD_{role.upper()}_MODEL to one that can be used, or unset it"
        return HealthCheck(name, False, str(error), fix)
    if setting.endpoint:
        servers.setdefault(setting.endpoint, "the role's endpoint")
    server = f", at {setting.endpoint}" if setting.endpoint else ""
    key = f", key from {setting.key[0]}" if setting.key else ""
    source = "" if setting.model == EXPLORER else f", by {setting.source}"
    return HealthCheck(name, True, f"{setting.model}{server}{key}{source}{f' ({notice})' if notice else ''}")


def _check_endpoint(url: str, source: str) -> HealthCheck:
    """Whether a model's server answers at all; any status is an answer."""
    try:
        with suppress(urllib.error.HTTPError):
            urllib.request.urlopen(f"{url.removesuffix('/v1')}/v1/models", timeout=REACH_SECONDS).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        fix = f"start that server, or correct {source}"
        return HealthCheck("endpoint", False, f"{url} does not answer ({reason})", fix, required=False)
    return HealthCheck("endpoint", True, f"{url} answers", required=False)


@data_command
def doctor(store: str | None) -> Printout:
    """Say what works on this machine, and the fix for what does not.

    Ends with 3 where something required is missing. The store loses the bytes of redacted or deleted text that were
    still waiting for their removal; nothing else changes, and no key is shown.
    """
    checks = [replace(check, fix="") if check.ok else check for check in run_checks(store)]
    works = all(check.ok or not check.required for check in checks)
    lines = []
    for check in checks:
        mark = "ok" if check.ok else "FAIL" if check.required else "-"
        lines.append(f"{mark:<6}{check.name:<10}{check.fact}")
        lines += [f"{INDENT}{check.fix}"] if check.fix else []
    return Printout({"ok": works, "checks": checks}, lines, code=0 if works else 3)


INDENT = " " * 16
"""Before the fix of a check, which has a line of its own, ready to be copied."""
