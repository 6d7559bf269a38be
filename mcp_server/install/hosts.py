"""The known hosts: where each keeps its settings on each system, and the form of an entry there.

Places and shapes are those the hosts' own documentation gives, or that their own commands write.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from ctxfold.errors import InputError
from mcp_server.install import formats as jsonc
from mcp_server.install import formats as toml

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


KEPT = "before-ctxfold"
"""What the name of the copy of a file ends with."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after, None where there is none; the text of its copy, and what the copy's name ends with."""

    path: PurePath
    before: str | None
    after: str | None
    backup: str | None
    mark: str = KEPT

    @property
    def changes(self) -> bool:
        """Whether the file is any different after it."""
        return self.before != self.after


def plan_install(host: Host, launch: Launch, path: PurePath, before: str | None, backup: str | None) -> Change:
    """Put our entry into a file; nothing if it is there already. Raises InputError: the file is not what the host reads."""
    entry, text = host.shape(launch), before or ""
    editor = choose_editor(path)
    try:
        there = editor.get(text, host.path)
        if there == entry:
            return Change(path, before, before, backup)
        ours_alone = there is not None and editor.put(backup or "", host.path, there) == before
        kept = backup if ours_alone else before if there is None else None
        return Change(path, before, editor.put(text, host.path, entry), kept)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def plan_uninstall(host: Host, path: PurePath, before: str | None, backup: str | None) -> Change:
    """Take our entry out of a file; nothing if it isn't there. Raises InputError: the file is not what the host reads."""
    editor = choose_editor(path)
    try:
        there = editor.get(before or "", host.path)
        if before is None or there is None:
            return Change(path, before, before, backup)
        if editor.put(backup or "", host.path, there) == before:
            return Change(path, before, backup, None)
        return Change(path, before, editor.drop(before, host.path), None)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def choose_editor(path: PurePath) -> ModuleType:
    """The editor for a file, by its ending: both have the same `get`, `put` and `drop`."""
    return toml if path.suffix == ".toml" else jsonc


def name_backup(path: PurePath, mark: str = KEPT) -> Path:
    """Where the copy of a file, or what is kept of it, lies: beside it."""
    return Path(path).with_name(f"{path.name}.{mark}")


def read(path: PurePath) -> str | None:
    """The text of a file, newlines as they are; None where there is none. Raises InputError: it cannot be read, or is not UTF-8 text."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path} cannot be read ({why}): put it right by hand, then run this again") from error


class Desk:
    """Changes that are planned one after the other, each on what those before it leave, and made together. The user's `home` stays whatever was in it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._texts: dict[Path, str | None] = {}
        self._changes: list[Change] = []

    def read(self, path: PurePath) -> str | None:
        """The text of a file as it will be; None where there will be none. Raises InputError: it cannot be read."""
        return self._texts[Path(path)] if Path(path) in self._texts else read(path)

    def plan(self, change: Change) -> None:
        """Take in one more change."""
        self._changes.append(change)
        if change.changes:
            self._texts |= {Path(change.path): change.after, name_backup(change.path, change.mark): change.backup}

    @property
    def files(self) -> dict[PurePath, tuple[str | None, str | None]]:
        """Each file that was looked at, as it is and as it will be."""
        found: dict[PurePath, tuple[str | None, str | None]] = {}
        for change in self._changes:
            before = found[change.path][0] if change.path in found else change.before
            found[change.path] = (before, change.after)
        return found

    def make(self) -> None:
        """Make all changes. Where a file is removed, folders that stand empty then go too: an empty one tells a host nothing. Raises InputError: a file cannot be written."""
        for change in self._changes:
            apply(change)
        for path, (before, after) in self.files.items():
            if before is not None and after is None:
                _remove_empty([folder for folder in Path(path).parents if folder.is_relative_to(self._home)])


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders that hold nothing, from the innermost on; the outermost stays."""
    for folder in folders[:-1]:
        if folder.is_dir():
            if any(folder.iterdir()):
                return
            folder.rmdir()


def apply(change: Change) -> None:
    """Make one change and keep, or put away, the copy. Raises InputError: a file cannot be written."""
    if not change.changes:
        return
    try:
        _write(name_backup(change.path, change.mark), change.backup)
        _write(Path(change.path), change.after)
    except OSError as error:
        raise InputError(f"{change.path} cannot be written ({error.strerror}): check its rights") from error


def _write(path: Path, text: str | None) -> None:
    """Replace a file, or remove it for None. A link stays a link: what it leads to is written."""
    path = path.resolve()
    if text is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
