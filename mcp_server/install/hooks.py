"""Plans how a host's settings file changes so that it runs our hooks, or our wrapper before one of its servers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from ctxfold.errors import InputError
from mcp_server.install.formats import choose_editor, drop_json, get_json, put_json
from mcp_server.install.hosts import NEW_SESSION, FileChange, InstallHost, Launch, name_file

HOOKS = "before-ctxfold-hooks"
"""The ending of a copy's name. It is not that of `hosts`: a host may keep hooks and servers in one file."""
_MODULE = "mcp_server.hooks"
"""Words that only our commands hold."""
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class HookHost:
    """A host that runs hooks.

    Attributes:
        file: its file of hooks, below the user's home.
        events: the events it runs ours at, each with a matcher and a number of parts; empty if the file is a plugin.
        after: the user's next move.
        second: a second in the host's unit.
    """

    file: tuple[str, ...]
    events: tuple[tuple[str, str, int], ...]
    after: str
    second: int = 1


_EVENTS = (("PostToolUse", "*", 1), ("PreCompact", "", 1), ("SessionStart", "compact|resume|fork", 3), ("Stop", "", 1))
_GEMINI = (("AfterTool", "*", 1), ("BeforeAgent", "", 1), ("AfterAgent", "", 1))
_CODEX_NEXT = "Start codex and agree to the new hooks when it asks."

HOOK_HOSTS: Mapping[str, HookHost] = {
    "claude-code": HookHost((".claude", "settings.json"), _EVENTS, "Start a new session; `/hooks` lists what runs."),
    "codex": HookHost((".codex", "hooks.json"), _EVENTS, _CODEX_NEXT),
    "gemini": HookHost((".gemini", "settings.json"), _GEMINI, NEW_SESSION, 1_000),
    "opencode": HookHost((".config", "opencode", "plugins", "ctxfold.js"), (), NEW_SESSION),
}
"""The hosts with hooks that can replace a result and give the model text."""


def plan_hooks(host: str, python: str, path: PurePath, before: str | None, backup: str | None) -> FileChange:
    """Add our hooks after those of others; our earlier ones are replaced.

    Python runs isolated (`-I`), so that a project's own `json.py` or `mcp_server/` is never run.

    Args:
        host: its name.
        python: the absolute path of the Python that runs them.
        path: the file of hooks.
        before: the file's text, None if it does not exist.
        backup: the text of its copy from before our hooks.

    Raises:
        InputError: the file is not in the host's format.
    """
    if not HOOK_HOSTS[host].events:
        text = files("mcp_server.install").joinpath("opencode.js").read_text(encoding="utf-8")
        after = text.replace('"PYTHON"', json.dumps(python))
        return FileChange(path, before, after, backup if _MODULE in (before or "") else before, HOOKS)
    with name_file(path):
        theirs, after = _list_theirs(before or "", host), before or ""
        for event, matcher, parts in HOOK_HOSTS[host].events:
            ours = _make_groups(f'"{python}" -I -m {_MODULE} {host}', matcher, parts, HOOK_HOSTS[host])
            groups = [*theirs.get(event, []), *ours]
            if get_json(after, ("hooks", event)) != groups:
                after = put_json(after, ("hooks", event), groups)
        return FileChange(path, before, after, backup if _MODULE in (before or "") else before, HOOKS)


def plan_no_hooks(host: str, python: str, path: PurePath, before: str | None, backup: str | None) -> FileChange:
    """Take our hooks out. A file that nothing else has changed since gets its old bytes. Errors as `plan_hooks`."""
    if before is None or _MODULE not in before:
        return FileChange(path, before, before, backup, HOOKS)
    if not HOOK_HOSTS[host].events or plan_hooks(host, python, path, backup, None).after == before:
        return FileChange(path, before, backup, None, HOOKS)
    with name_file(path):
        after, theirs = before, _list_theirs(before, host)
        for event, _, _ in HOOK_HOSTS[host].events:
            groups = theirs.get(event, [])
            after = put_json(after, ("hooks", event), groups) if groups else drop_json(after, ("hooks", event))
        return FileChange(path, before, after, None, HOOKS)


def _make_groups(command: str, matcher: str, parts: int, host: HookHost) -> list[dict[str, Any]]:
    """What a host runs at one event: one command, or one for each part."""
    commands = [command] if parts == 1 else [f"{command} {part}/{parts}" for part in range(1, parts + 1)]
    hooks = [{"type": "command", "command": words, "timeout": _SECONDS * host.second} for words in commands]
    return [{**({"matcher": matcher} if matcher else {}), "hooks": hooks}]


def _list_theirs(text: str, host: str) -> dict[str, list[Any]]:
    """The hooks of others, by event."""
    theirs = {}
    for event, _, _ in HOOK_HOSTS[host].events:
        groups = get_json(text, ("hooks", event)) or []
        if not isinstance(groups, list):
            raise InputError(f"hooks.{event} is not a list: correct it by hand, then run this again")
        theirs[event] = [group for group in groups if not _is_ours(group)]
    return theirs


def _is_ours(group: Any) -> bool:
    hooks: Sequence[Any] = group.get("hooks", []) if isinstance(group, dict) else []
    return any(isinstance(hook, dict) and _MODULE in str(hook.get("command")) for hook in hooks)


WRAPPED = "wrapped-by-ctxfold"
"""The ending of the name of the file that keeps the entries of wrapped servers, as they were written."""
_ADDRESSES = ("httpUrl", "url", "serverUrl")
"""The keys under which hosts have a server's address. The first that is present is the one of the newer transport."""
_SECRETS = ("headers", "http_headers", "bearer_token_env_var", "oauth", "authProviderType")
_Texts = tuple[str | None, str | None]
"""The text of a settings file, and that of the file which keeps its wrapped entries."""


def plan_wrap(host: InstallHost, launch: Launch, server: str, path: PurePath, texts: _Texts) -> FileChange:
    """Put our command before a server's. Nothing changes if it is there, or if the file has no such server.

    Raises:
        InputError: the file is not in the host's format, or the server cannot be wrapped.
    """
    before, kept = texts  # `kept` has the entries as they were before we wrapped them
    editor, where = choose_editor(path), (*host.path[:-1], server)
    entry, kept_entry = editor.get(before or "", where), editor.get(kept or "", where)
    is_wrapped = kept_entry is not None and entry == _wrap_entry(host, launch, server, kept_entry)
    if before is None or entry is None or is_wrapped:
        return FileChange(path, before, before, kept, WRAPPED)
    after = editor.put(before, where, _wrap_entry(host, launch, server, entry))
    return FileChange(path, before, after, editor.copy(kept or "", where, before), WRAPPED)


def plan_unwrap(host: InstallHost, server: str | None, path: PurePath, texts: _Texts) -> FileChange:
    """Give a server its own entry back, or every wrapped one for None. Errors as `plan_wrap`."""
    before, kept = texts
    editor, key, after, rest = choose_editor(path), host.path[:-1], before or "", kept or ""
    for name in editor.get(rest, key) or {}:
        if server in (None, name):
            if editor.get(after, (*key, name)) is not None:
                after = editor.copy(after, (*key, name), rest)
            rest = editor.drop(rest, (*key, name))
    return FileChange(path, before, before and after, rest if editor.get(rest, key) else None, WRAPPED)


def _wrap_entry(host: InstallHost, launch: Launch, server: str, entry: Any) -> dict[str, Any]:
    """The entry that starts the wrapper before a server."""
    if not isinstance(entry, dict):
        raise InputError(f"the entry of {server} is not an object: correct it by hand, then run this again")
    match entry.get("command"):
        case str(command):
            given = entry.get("args")
            args = [*launch.args, "--", command, *(given if isinstance(given, list) else [])]
            return {**entry, "command": launch.command, "args": args}
        case [*words]:
            return {**entry, "command": [launch.command, *launch.args, "--", *words]}
        case _:
            return _wrap_address(host, launch, server, entry)


def _wrap_address(host: InstallHost, launch: Launch, server: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    address = next((entry[name] for name in _ADDRESSES if isinstance(entry.get(name), str)), None)
    if address is None:
        raise InputError(f"{server} has neither a command nor an address: correct it by hand, then run this again")
    if entry.get("type") == "sse":
        raise InputError(f"{server} uses HTTP+SSE, which cannot be wrapped: give its newer address, if it has one")
    secret = next((name for name in _SECRETS if entry.get(name)), None)
    if secret is not None:
        raise InputError(
            f"{server} uses {secret}, which a command line would show to others: "
            "write the entry by hand, with `ctxfold wrap --url URL --header NAME=env:VARIABLE`"
        )
    rest = {key: value for key, value in entry.items() if key not in (*_ADDRESSES, "type")}
    return {**host.shape(Launch(launch.command, (*launch.args, "--url", address))), **rest}
