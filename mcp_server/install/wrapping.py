"""Decides how a server that a host already has is put behind ours, and how its entry is given back byte for byte.

What was replaced is kept in a file beside the settings: each entry's values, and its text as it was and as we wrote it. Where our text still stands, its old
text takes its place again, whatever else was edited since; where somebody edited ours, the old values do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ctxfold.errors import InputError
from mcp_server.install.hosts import Host, Launch
from mcp_server.install.plan import Change, choose_editor

__all__ = ["WRAPPED", "plan_unwrap", "plan_wrap"]

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
