"""Decides how a host's settings file changes so that it runs our hooks, or no longer does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from ctxfold.errors import InputError
from mcp_server.install import jsonc
from mcp_server.install.plan import Change

__all__ = ["HOOKED", "HOOKS", "Hooked", "plan_hooks", "plan_no_hooks"]

HOOKS = "before-ctxfold-hooks"
"""What the name of the copy of a file ends with: a host may keep hooks and servers in one file."""
_MODULE = "mcp_server.hooks"
"""What only our commands hold."""
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Hooked:
    """A host that runs hooks.

    Attributes:
        file: its file of hooks, below the user's home.
        events: which events it runs ours at, each with what it is narrowed to and in how many parts; none where the file is a plugin.
        after: what the user does next.
        second: what it calls a second.
    """

    file: tuple[str, ...]
    events: tuple[tuple[str, str, int], ...]
    after: str
    second: int = 1


_EVENTS = (
    ("PostToolUse", "*", 1),
    ("PreCompact", "", 1),
    ("SessionStart", "compact|resume|fork", 3),
    ("UserPromptSubmit", "", 1),
    ("Stop", "", 1),
)

_GEMINI = (("AfterTool", "*", 1), ("BeforeAgent", "", 1), ("AfterAgent", "", 1))

HOOKED: Mapping[str, Hooked] = {
    "claude-code": Hooked((".claude", "settings.json"), _EVENTS, "Start a new session; `/hooks` lists what runs."),
    "codex": Hooked((".codex", "hooks.json"), _EVENTS, "Start codex and agree to the new hooks when it asks."),
    "gemini": Hooked((".gemini", "settings.json"), _GEMINI, "Start a new session to use it.", 1_000),
    "opencode": Hooked((".config", "opencode", "plugins", "ctxfold.js"), (), "Start a new session to use it."),
}
"""The hosts whose hooks take a result's replacement and text for the model."""


def plan_hooks(host: str, python: str, path: PurePath, before: str | None, backup: str | None) -> Change:
    """Put our hooks behind those that are there, run by `python`, an absolute path; ours of an earlier time are replaced.

    `before`: the file's text, None where there is none; `backup`: that of its copy from before ours. Raises InputError: the file is not what the host reads.
    """
    if not HOOKED[host].events:
        text = files("mcp_server.install").joinpath("opencode.js").read_text(encoding="utf-8")
        after = text.replace('"PYTHON"', json.dumps(python))
        return Change(path, before, after, backup if _MODULE in (before or "") else before, HOOKS)
    try:
        theirs, after = _without(before or "", host), before or ""
        for event, matcher, parts in HOOKED[host].events:
            groups = [
                *theirs.get(event, []),
                *_groups(f'"{python}" -I -m {_MODULE} {host}', matcher, parts, HOOKED[host]),
            ]
            if jsonc.get(after, ("hooks", event)) != groups:
                after = jsonc.put(after, ("hooks", event), groups)
        ours = _holds_ours(before or "", host)
        return Change(path, before, after, backup if ours else before, HOOKS)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def plan_no_hooks(host: str, python: str, path: PurePath, before: str | None, backup: str | None) -> Change:
    """Take our hooks out; a file that nothing else has changed since is put back as it was. Raises InputError: the file is not what the host reads."""
    try:
        plugin = not HOOKED[host].events
        if before is None or not (_MODULE in before if plugin else _holds_ours(before, host)):
            return Change(path, before, before, backup, HOOKS)
        if plugin or plan_hooks(host, python, path, backup, None).after == before:
            return Change(path, before, backup, None, HOOKS)
        after, theirs = before, _without(before, host)
        for event, _, _ in HOOKED[host].events:
            groups = theirs.get(event, [])
            after = jsonc.put(after, ("hooks", event), groups) if groups else jsonc.drop(after, ("hooks", event))
        return Change(path, before, after, None, HOOKS)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _groups(command: str, matcher: str, parts: int, host: Hooked) -> list[dict[str, Any]]:
    """What a host runs at one event: one command, or one for each part."""
    commands = [command] if parts == 1 else [f"{command} {part}/{parts}" for part in range(1, parts + 1)]
    hooks = [{"type": "command", "command": each, "timeout": _SECONDS * host.second} for each in commands]
    return [{**({"matcher": matcher} if matcher else {}), "hooks": hooks}]


def _without(text: str, host: str) -> dict[str, list[Any]]:
    """The hooks of others, by event."""
    return {event: [group for group in groups if not _is_ours(group)] for event, groups in _there(text, host).items()}


def _holds_ours(text: str, host: str) -> bool:
    return any(_is_ours(group) for groups in _there(text, host).values() for group in groups)


def _there(text: str, host: str) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {}
    for event, _, _ in HOOKED[host].events:
        groups = jsonc.get(text, ("hooks", event))
        if groups is not None and not isinstance(groups, list):
            raise InputError(f"hooks.{event} is no list there: mend it, then run this again")
        made[event] = groups or []
    return made


def _is_ours(group: Any) -> bool:
    hooks: Sequence[Any] = group.get("hooks", []) if isinstance(group, dict) else []
    return any(isinstance(hook, dict) and _MODULE in str(hook.get("command")) for hook in hooks)
