"""Decides how a host's settings file changes so that it runs our hooks, or no longer does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from ctxfold.errors import InputError
from mcp_server.install import formats as jsonc
from mcp_server.install.hosts import Change, Host, Launch, choose_editor

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


WRAPPED = "wrapped-by-ctxfold"
"""What the name of the file ends with that keeps the entries."""
_ADDRESSES = ("httpUrl", "url", "serverUrl")
"""The names under which hosts have a server's address; where there are two, the first is the one of the protocol's newer transport."""
_SECRETS = ("headers", "http_headers", "bearer_token_env_var", "oauth", "authProviderType")


def plan_wrap(host: Host, launch: Launch, server: str, path: PurePath, texts: tuple[str | None, str | None]) -> Change:
    """Put our command before a server's; nothing where it stands there already, or where the file has no such server. `texts`: the file's, and that of the file beside it.

    Raises:
        InputError: the file is not what the host reads, or the server is none that can be wrapped.
    """
    before, kept = texts
    held = _read(kept)
    editor, where = choose_editor(path), (*host.path[:-1], server)
    entry = editor.get(before or "", where)
    if before is None or entry is None or (server in held and entry == held[server]["ours"]):
        return Change(path, before, before, kept, WRAPPED)
    ours = _wrap(host, launch, server, entry)
    after = editor.put(before, where, ours)
    theirs, placed = _differing(before, after)
    held[server] = {"entry": entry, "ours": editor.get(after, where), "theirs": theirs, "placed": placed}
    return Change(path, before, after, json.dumps(held, indent=1) + "\n", WRAPPED)


def plan_unwrap(host: Host, server: str | None, path: PurePath, texts: tuple[str | None, str | None]) -> Change:
    """Give a server its own entry back, or each that was wrapped. Arguments and errors as of `plan_wrap`; an entry that is gone stays so."""
    before, kept = texts
    held = _read(kept)
    editor, after = choose_editor(path), before or ""
    for name in [name for name in reversed(held) if server in (None, name)]:
        was, where = held.pop(name), (*host.path[:-1], name)
        if editor.get(after, where) is None:
            continue
        back = after.replace(was["placed"], was["theirs"]) if after.count(was["placed"]) == 1 else after
        try:
            given_back = editor.get(back, where) == was["entry"]
        except InputError:
            given_back = False
        after = back if given_back else editor.put(after, where, was["entry"])
    left = json.dumps(held, indent=1) + "\n" if held else None
    return Change(path, before, before if before is None else after, left, WRAPPED)


def _wrap(host: Host, launch: Launch, server: str, entry: Any) -> dict[str, Any]:
    """The entry that starts us before the server."""
    if not isinstance(entry, dict):
        raise InputError(f"{server} is no entry of a server: put it right by hand, then run this again")
    match entry.get("command"):
        case str(command):
            given = entry.get("args")
            args = [*launch.args, "--", command, *(given if isinstance(given, list) else [])]
            return {**entry, "command": launch.command, "args": args}
        case [*words]:
            return {**entry, "command": [launch.command, *launch.args, "--", *words]}
        case _:
            return _wrap_address(host, launch, server, entry)


def _wrap_address(host: Host, launch: Launch, server: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    address = next((entry[name] for name in _ADDRESSES if isinstance(entry.get(name), str)), None)
    if address is None:
        raise InputError(f"{server} has neither a command nor an address: put it right by hand, then run this again")
    if entry.get("type") == "sse":
        raise InputError(
            f"{server} is reached over HTTP+SSE, which is not wrapped: give its newer address, if it has one"
        )
    secret = next((name for name in _SECRETS if entry.get(name)), None)
    if secret is not None:
        raise InputError(
            f"{server} is reached with {secret}, which a command line would show to others: "
            "write the entry by hand, with `ctxfold wrap --url URL --header NAME=env:VARIABLE`"
        )
    rest = {key: value for key, value in entry.items() if key not in (*_ADDRESSES, "type")}
    return {**host.shape(Launch(launch.command, (*launch.args, "--url", address))), **rest}


def _differing(before: str, after: str) -> tuple[str, str]:
    """The lines in which two texts differ, as they stand in each."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - start
    pairs = zip(reversed(old), reversed(new), strict=False)
    end = next((at for at, (a, b) in enumerate(pairs) if a != b or at == most), most)
    return "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end])


def _read(kept: str | None) -> dict[str, dict[str, Any]]:
    if kept is None:
        return {}
    try:
        held = json.loads(kept)
    except ValueError as error:
        raise InputError(
            "what was kept of wrapped servers cannot be read: put it right by hand, then run this again"
        ) from error
    return held if isinstance(held, dict) else {}
