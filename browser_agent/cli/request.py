"""Reads the schema and the secrets that a command line names, and writes the command that resumes a run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secret
from ctxfold.errors import InputError

_NAME = "ctxfold"


def format_command(*arguments: str) -> str:
    """Format a command of ctxfold: by name if the shell finds this program under it, else by its path."""
    started, by_name = Path(sys.argv[0]), shutil.which(_NAME)
    program = [str(started.absolute())]
    if started.name == "__main__.py":
        program = [sys.executable, "-m", _NAME]
    elif not started.is_file() or (by_name is not None and Path(by_name).resolve() == started.resolve()):
        program = [_NAME]
    return shlex.join([*program, *arguments])


_NOT_RESUMED = {"session", "start_url", "resume", "model"}
"""Options that `resume_command` leaves out, or gives itself."""


def resume_command(session: str, model: str, start_url: str | None) -> str:
    """Format the command that resumes a run: its session, its model, and the options that were typed."""
    context = click.get_current_context()
    words = ["--session", session, "--model", model]
    for option in context.command.params:
        name = option.name or ""
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in _NOT_RESUMED or not is_typed or not isinstance(option, click.Option):
            continue
        value, spelled = context.params[name], max(option.opts, key=len)
        if option.is_flag:
            words.append(spelled)
        else:
            for given in value if option.multiple else (value,):
                words += [spelled, _add_domain(given, start_url) if name == "secrets" else str(given)]
    return format_command("browse", "--resume", *words)


def _add_domain(secret: str, start_url: str | None) -> str:
    """Add to a secret's option its domain, because a resumed run names no start address."""
    name, _, source = secret.partition("=")
    site = _name_site(start_url)
    return f"{name}@{site}={source}" if site and "@" not in name else secret


_HOW = "give it as NAME=env:VARIABLE or NAME=file:PATH, with NAME@DOMAIN for a site other than the start address"


def read_schema(path: Path) -> Any:
    """Read a JSON schema from a file. Raises InputError: the file cannot be read, or is not JSON."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"the schema {str(path)!r} cannot be read as JSON ({error}); name another file") from error


def read_secret(given: str, start_url: str | None) -> Secret:
    """Read a secret of the form `NAME[@DOMAIN]=SOURCE`. Without a domain it belongs to the start address's host and
    port.

    Raises:
        InputError: another form, an empty source, or no domain and no start address.
    """
    left, equals, source = given.partition("=")
    if not equals:
        raise InputError(f"--secret {left!r} names no source: {_HOW}")
    name, _, domain = left.partition("@")
    domain = domain or _name_site(start_url)
    if not domain:
        raise InputError(f"the secret {name!r} belongs nowhere without a start address: {_HOW}")
    kind, _, where = source.partition(":")
    if kind not in ("env", "file"):
        raise InputError(f"the secret {name!r} must not stand on the command line: {_HOW}")
    try:
        value = os.environ.get(where, "") if kind == "env" else Path(where).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the secret {name!r} cannot be read as text from {where!r}: name another file") from error
    if not value:
        raise InputError(f"the secret {name!r} is empty at its source {kind}:{where}: {_HOW}")
    return Secret(name, value, domain)


def _name_site(url: str | None) -> str:
    """Return host and port of an address; empty when it is not a web address."""
    origin = origin_of(url or "")
    if origin is None:
        return ""
    host, port = origin
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
