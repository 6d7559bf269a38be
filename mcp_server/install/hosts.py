"""The known hosts: where each keeps its settings on each system, and the form of an entry there.

Places and shapes are those the hosts' own documentation gives, or that their own commands write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

__all__ = ["HOSTS", "Host", "Launch", "Machine", "is_passing"]


_PASSING = re.compile(r"[/\\](?:(?:archive|environments|builds)-v\d+|pipx[/\\]\.cache)[/\\]", re.IGNORECASE)
"""Folders in which a runner keeps what it may throw away: what `uvx` and `pipx run` start lies there."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts the server. `command`: an absolute path: hosts start us with next to no PATH."""

    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a user's things lie on one machine; `config`: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.

    `packages`: on Windows, the data folders of Claude Desktop installed as a store package; that one reads nothing else.
    """

    home: PurePath
    config: PurePath
    packages: tuple[PurePath, ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """One host: its settings files, the keys down to our entry in them, the form of that, what the user does next, and what on PATH starts it."""

    name: str
    files: Callable[[Machine], tuple[PurePath, ...]]
    path: tuple[str, ...]
    shape: Callable[[Launch], dict[str, Any]]
    after: str
    program: str = ""

    def traces(self, machine: Machine) -> tuple[PurePath, ...]:
        """What lies on a machine where the host has run: its settings file, or the folder that is its own."""
        files = self.files(machine)
        shared = (machine.home, machine.config)
        own = (next((each for each in file.parents if each.parent in shared), file) for file in files)
        return (*files, *own)


def is_passing(command: str) -> bool:
    """Whether a command lies where its runner may remove it at any time, so that a host that was told of it would lose it."""
    return _PASSING.search(command) is not None


_SERVERS = ("mcpServers", "ctxfold")
_ANEW = "Start a new session to use it."
_REFRESH = "Refresh the MCP servers in Windsurf."


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
        Host("claude-desktop", _claude_desktop_files, _SERVERS, _plain, "Quit Claude Desktop fully and open it again."),
        Host("claude-code", _in_home(".claude.json"), _SERVERS, _claude_code, _ANEW, "claude"),
        Host(
            "cursor",
            _in_home(".cursor", "mcp.json"),
            _SERVERS,
            _plain,
            "Switch ctxfold on in Cursor's MCP settings.",
            "cursor",
        ),
        Host(
            "vscode",
            _vscode_files,
            ("servers", "ctxfold"),
            _stdio,
            "Run `MCP: List Servers` and start ctxfold.",
            "code",
        ),
        Host("copilot-cli", _in_home(".copilot", "mcp-config.json"), _SERVERS, _copilot, _ANEW, "copilot"),
        Host("codex", _in_home(".codex", "config.toml"), ("mcp_servers", "ctxfold"), _plain, _ANEW, "codex"),
        Host("gemini", _in_home(".gemini", "settings.json"), _SERVERS, _plain, _ANEW, "gemini"),
        Host(
            "opencode",
            _in_home(".config", "opencode", "opencode.json"),
            ("mcp", "ctxfold"),
            _opencode,
            _ANEW,
            "opencode",
        ),
        Host("windsurf", _in_home(".codeium", "windsurf", "mcp_config.json"), _SERVERS, _plain, _REFRESH, "windsurf"),
    )
}
"""Every host by its name."""
