"""The request that a command line makes, the command that resumes it, and where its secrets come from."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import click
from click.core import ParameterSource

from browser_agent.agent.result import Safety
from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
from browser_agent.deciders.model import Shape
from browser_agent.network.effects import Confirm
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secret
from ctxfold.errors import InputError

_NAME = "ctxfold"


def format_command(*arguments: str) -> str:
    """Format a command of ctxfold: by name if the shell finds this program under it, else by its path."""
    return shlex.join([*_program(), *arguments])


def _program() -> list[str]:
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return [sys.executable, "-m", _NAME]
    found = shutil.which(_NAME)
    if not started.is_file() or (found is not None and Path(found).resolve() == started.resolve()):
        return [_NAME]
    near = os.path.relpath(started)
    if near.startswith(os.pardir):
        return [str(started.absolute())]
    return [near if os.sep in near else os.path.join(os.curdir, near)]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run as a command line asks for it."""

    task: str
    start_url: str | None
    model: str
    budget: int
    limits: RunLimits
    browser: BrowserChoice
    keeping: Keeping
    safety: Safety = field(default_factory=Safety)
    as_json: bool = False
    shape: Shape | None = None


_NOT_RESUMED = {"session", "start_url", "resume", "model"}
"""Options that `resume_command` leaves out, or gives itself."""


def resume_command(request: RunRequest) -> str:
    """Format the command that resumes a run: its session, its model, and the options that were typed."""
    context = click.get_current_context()
    words = ["--session", request.keeping.session or "", "--model", request.model]
    for option in context.command.params:
        name = option.name or ""
        if name in _NOT_RESUMED or not isinstance(option, click.Option):
            continue
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value, spelled = context.params[name], max(option.opts, key=len)
        if option.is_flag:
            words.append(spelled)
            continue
        for each in value if option.multiple else (value,):
            words += [spelled, _add_domain(each, request.start_url) if name == "secrets" else str(each)]
    return format_command("browse", "--resume", *words)


def _add_domain(secret: str, start_url: str | None) -> str:
    """Add to a secret's option its domain, because a resumed run names no start address."""
    name, _, source = secret.partition("=")
    origin = origin_of(start_url) if start_url is not None else None
    return secret if "@" in name or origin is None else f"{name}@{origin[0]}={source}"


_HOW = "give it as NAME=env:VARIABLE or NAME=file:PATH, with NAME@DOMAIN for a site other than the start address"


def read_safety(
    allow: tuple[str, ...], secrets: tuple[str, ...], start_url: str | None, confirm: Confirm, trust: tuple[str, ...]
) -> Safety:
    """Read the safety options of a command; a start address given there is trusted. Raises InputError: not a domain or
    not a secret.
    """
    return Safety(allow, tuple(read_secret(said, start_url) for said in secrets), confirm, trust=trust)


def read_secret(said: str, start_url: str | None) -> Secret:
    """Read a secret of the form `NAME[@DOMAIN]=SOURCE`. Without a domain it belongs to the start address's host and
    port.

    Raises:
        InputError: another form, an empty source, or no domain and no start address.
    """
    left, equals, source = said.partition("=")
    if not equals:
        raise InputError(f"--secret {left!r} names no source: {_HOW}")
    name, _, domain = left.partition("@")
    domain = domain or (_site(start_url) if start_url is not None else "")
    if not domain:
        raise InputError(f"the secret {name!r} belongs nowhere without a start address: {_HOW}")
    return Secret(name, _value(name, source), domain)


def _site(url: str) -> str:
    """Return host and port of an address; empty when it is not a web address."""
    origin = origin_of(url)
    if origin is None:
        return ""
    host, port = origin
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _value(name: str, source: str) -> str:
    kind, _, where = source.partition(":")
    match kind:
        case "env":
            value = os.environ.get(where, "")
        case "file":
            try:
                value = Path(where).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
                raise InputError(
                    f"the secret {name!r} cannot be read from {where!r} ({reason}): name another file"
                ) from error
        case _:
            raise InputError(f"the secret {name!r} must not stand on the command line: {_HOW}")
    if not value:
        raise InputError(f"the secret {name!r} is empty at its source {kind}:{where}: {_HOW}")
    return value
