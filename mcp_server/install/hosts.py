"""Which hosts there are: where the configuration of each lies on each system, and how an entry in it is shaped. Tables only; no file is touched.

Places and shapes are those the hosts' own documentation gives, or that their own commands write.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from ctxfold.errors import InputError

__all__ = ["HOSTS", "Host", "Launch", "Machine", "System", "drop", "get", "passing", "put"]


_PASSING = re.compile(r"[/\\](?:(?:archive|environments|builds)-v\d+|pipx[/\\]\.cache)[/\\]", re.IGNORECASE)
"""Folders in which a runner keeps what it may throw away: what `uvx` and `pipx run` start lies there."""

System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts the server.

    Attributes:
        command: an absolute path: hosts start us with next to no PATH.
        args: its arguments.
    """

    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a user's things lie on one machine.

    Attributes:
        system: which of the three.
        home: the user's folder.
        config: where programs keep settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
        packages: on Windows, the data folders of Claude Desktop installed as a store package; that one reads nothing else.
    """

    system: System
    home: PurePath
    config: PurePath
    packages: tuple[PurePath, ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """One host.

    Attributes:
        name: as typed on the command line.
        title: as people call it.
        files: its configuration files on a machine; each gets the entry.
        path: the keys down to our entry.
        shape: the entry.
        after: what the user does next.
    """

    name: str
    title: str
    files: Callable[[Machine], tuple[PurePath, ...]]
    path: tuple[str, ...]
    shape: Callable[[Launch], dict[str, Any]]
    after: str


def passing(command: str) -> bool:
    """Whether a command lies where its runner may remove it at any time, so that a host that was told of it would lose it.

    Args:
        command: an absolute path.
    """
    return _PASSING.search(command) is not None


_SERVERS = ("mcpServers", "ctxfold")
_ANEW = "Start a new session to use it."


def _plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": list(launch.args)}


def _stdio(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_plain(launch)}


def _claude_code(launch: Launch) -> dict[str, Any]:
    return {**_stdio(launch), "env": {}}


def _copilot(launch: Launch) -> dict[str, Any]:
    return {"type": "local", **_plain(launch), "tools": ["*"]}


def _opencode(launch: Launch) -> dict[str, Any]:
    return {"type": "local", "command": [launch.command, *launch.args], "enabled": True}


def _claude_desktop_files(machine: Machine) -> tuple[PurePath, ...]:
    roots = (machine.config, *(package / "LocalCache" / "Roaming" for package in machine.packages))
    return tuple(root / "Claude" / "claude_desktop_config.json" for root in roots)


def _in_home(*parts: str) -> Callable[[Machine], tuple[PurePath, ...]]:
    return lambda machine: (machine.home.joinpath(*parts),)


def _vscode_files(machine: Machine) -> tuple[PurePath, ...]:
    return (machine.config / "Code" / "User" / "mcp.json",)


HOSTS: dict[str, Host] = {
    host.name: host
    for host in (
        Host(
            "claude-desktop",
            "Claude Desktop",
            _claude_desktop_files,
            _SERVERS,
            _plain,
            "Quit Claude Desktop fully and open it again.",
        ),
        Host("claude-code", "Claude Code", _in_home(".claude.json"), _SERVERS, _claude_code, _ANEW),
        Host(
            "cursor",
            "Cursor",
            _in_home(".cursor", "mcp.json"),
            _SERVERS,
            _plain,
            "Open Cursor's MCP settings and switch ctxfold on.",
        ),
        Host(
            "vscode",
            "VS Code",
            _vscode_files,
            ("servers", "ctxfold"),
            _stdio,
            "Run `MCP: List Servers` in VS Code and start ctxfold.",
        ),
        Host("copilot-cli", "Copilot CLI", _in_home(".copilot", "mcp-config.json"), _SERVERS, _copilot, _ANEW),
        Host("codex", "Codex", _in_home(".codex", "config.toml"), ("mcp_servers", "ctxfold"), _plain, _ANEW),
        Host("gemini", "Gemini CLI", _in_home(".gemini", "settings.json"), _SERVERS, _plain, _ANEW),
        Host(
            "opencode",
            "opencode",
            _in_home(".config", "opencode", "opencode.json"),
            ("mcp", "ctxfold"),
            _opencode,
            _ANEW,
        ),
        Host(
            "windsurf",
            "Windsurf",
            _in_home(".codeium", "windsurf", "mcp_config.json"),
            _SERVERS,
            _plain,
            "Refresh the MCP servers in Windsurf.",
        ),
    )
}
"""Every host by its name."""


_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_TAIL = re.compile(r"(?:^[ \t]*(?:#[^\n]*)?(?:\n|\Z))+\Z", re.MULTILINE)
_BY_HAND = "{} is written in a form this can't change: take it out by hand, then run this again"


def get(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; None where there is nothing.

    Raises:
        InputError: the text is not TOML.
    """
    at: Any = _read(text)
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at


def put(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """The text with a table of strings and lists of strings, in place of the one that was there, else at the end.

    Args:
        text: TOML; may be blank.
        path: the keys of the table's header.
        value: its members.

    Raises:
        InputError: the text is not TOML, or has the table in another form than under a header.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    table = newline.join(
        [
            f"[{'.'.join(path)}]",
            *(f"{key} = {json.dumps(member, ensure_ascii=False)}" for key, member in value.items()),
            "",
        ]
    )
    found = _table(text, path)
    if found is None and get(text, path) is not None:
        raise InputError(_BY_HAND.format(".".join(path)))
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    new = text[: found[0]] + table + text[found[1] :] if found else text + gap + table
    if get(new, path) != value:
        raise InputError(_BY_HAND.format(".".join(path)))
    return new


def drop(text: str, path: tuple[str, ...]) -> str:
    """The text without a table and the blank line before it; the text itself where there is none.

    Raises:
        InputError: as for `put`.
    """
    if get(text, path) is None:
        return text
    found = _table(text, path)
    new = text[: found[0]].removesuffix("\n").removesuffix("\r") + text[found[1] :] if found else text
    if get(new, path) is not None:
        raise InputError(_BY_HAND.format(".".join(path)))
    return new


def _table(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the table begins and ends; blank lines and comments after it belong to what follows."""
    keys = r"\s*\.\s*".join(rf"(?:{key}|\"{key}\"|'{key}')" for key in map(re.escape, path))
    head = re.search(rf"^[ \t]*\[\s*{keys}\s*\][^\n]*$", text, re.MULTILINE)
    if head is None:
        return None
    following = _HEADER.search(text, head.end())
    table = text[head.start() : following.start() if following else len(text)]
    return head.start(), head.start() + len(_TAIL.sub("", table))


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML ({error}): put it right by hand, then run this again") from error
