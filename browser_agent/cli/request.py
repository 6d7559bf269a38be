"""What a command line asks of a run, and the whole command that goes on with it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from browser_agent.agent.confirm import Safety
from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
from browser_agent.deciders.answer_schema import Shape
from browser_agent.network.egress import origin_of

__all__ = ["AsSaid", "RunRequest", "resume_command", "typed"]

_NAME = "ctxfold"


def typed(*arguments: str) -> str:
    """A command of ctxfold with these arguments: by its name where the shell finds this very program, else by the path it was started by."""
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
class AsSaid:
    """Options as the command line said them: the schema's file, the folding model, and each secret by its name and source, never by its value."""

    schema: Path | None = None
    folder: str | None = None
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a command line asks for."""

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
    said: AsSaid = field(default_factory=AsSaid)


def resume_command(request: RunRequest) -> str:
    """The command that goes on with a run as it was begun."""
    words = [word for option in _options(request) for word in option]
    return typed("browse", "--resume", *words)


def _options(request: RunRequest) -> Iterator[list[str]]:
    limits, browser, keeping, safety = request.limits, request.browser, request.keeping, request.safety
    valued: list[tuple[str, object]] = [
        ("--session", keeping.session),
        ("--store", keeping.store),
        ("--model", request.model),
        ("--folder-model", request.said.folder),
        ("--budget", request.budget),
        ("--max-steps", limits.steps),
        ("--timeout", f"{limits.seconds:g}"),
        ("--max-cost", None if limits.dollars is None else f"{limits.dollars:g}"),
        ("--schema", request.said.schema),
        ("--save-script", keeping.script),
        ("--trace", browser.trace),
        ("--browser", browser.executable),
        ("--endpoint", browser.endpoint),
        ("--storage-state", browser.storage_state),
        ("--confirm", None if safety.confirm == "auto" else safety.confirm),
    ]
    yield from ([name, str(value)] for name, value in valued if value is not None)
    yield from ([name] for name, on in (("--screenshots", keeping.screenshots), ("--headed", browser.headed)) if on)
    yield from (["--allow", domain] for domain in safety.allow)
    yield from (["--trust", domain] for domain in safety.trust)
    yield from (["--secret", _with_domain(secret, request.start_url)] for secret in request.said.secrets)


def _with_domain(secret: str, start_url: str | None) -> str:
    """A secret's option with the domain it belongs to: who goes on with a run names no start address."""
    name, _, source = secret.partition("=")
    origin = origin_of(start_url) if start_url is not None else None
    return secret if "@" in name or origin is None else f"{name}@{origin[0]}={source}"
