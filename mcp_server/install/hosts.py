"""The hosts as a table: where each keeps its settings and how an entry looks; files are changed, kept and put back.

Paths and shapes come from the hosts' own documentation, or from what their own commands write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from ctxfold.errors import InputError
from mcp_server.install.formats import choose_editor

_CACHE = re.compile(r"[/\\](?:(?:archive|environments|builds)-v\d+|pipx[/\\]\.cache)[/\\]", re.IGNORECASE)
"""Folders from which `uvx` and `pipx run` start a command, and which they may empty at any time."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts the server. `command` is an absolute path: hosts give us next to no PATH."""

    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's folders on one machine.

    Attributes:
        config: `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
        packages: on Windows, the data folders of Claude Desktop from the store, which reads no others.
    """

    home: PurePath
    config: PurePath
    packages: tuple[PurePath, ...] = ()


@dataclass(frozen=True, slots=True)
class InstallHost:
    """One host.

    Attributes:
        files: its settings files on a machine.
        path: the keys down to our entry in them.
        shape: our entry.
        after: the user's next move.
    """

    name: str
    files: Callable[[Machine], tuple[PurePath, ...]]
    path: tuple[str, ...]
    shape: Callable[[Launch], dict[str, Any]]
    after: str


def is_in_cache(command: str) -> bool:
    """Whether a command lies in a folder that its runner may empty, after which a host would not find it."""
    return _CACHE.search(command) is not None


def _shape_plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": list(launch.args)}


def _shape_stdio(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_shape_plain(launch)}


def _shape_claude_code(launch: Launch) -> dict[str, Any]:
    return {**_shape_stdio(launch), "env": {}}


def _shape_copilot(launch: Launch) -> dict[str, Any]:
    return {"type": "local", **_shape_plain(launch), "tools": ["*"]}


def _shape_opencode(launch: Launch) -> dict[str, Any]:
    return {"type": "local", "command": [launch.command, *launch.args], "enabled": True}


def _list_claude_desktop_files(machine: Machine) -> tuple[PurePath, ...]:
    roots = (machine.config, *(package / "LocalCache" / "Roaming" for package in machine.packages))
    return tuple(root / "Claude" / "claude_desktop_config.json" for root in roots)


def _find_in_home(path: str) -> Callable[[Machine], tuple[PurePath, ...]]:
    return lambda machine: (machine.home.joinpath(*path.split("/")),)


def _list_vscode_files(machine: Machine) -> tuple[PurePath, ...]:
    return (machine.config / "Code" / "User" / "mcp.json",)


_SERVERS = ("mcpServers", "ctxfold")
NEW_SESSION = "Start a new session to use it."
_DESKTOP = "Quit Claude Desktop fully and open it again."
_CURSOR = "Switch ctxfold on in Cursor's MCP settings."
_WINDSURF = "Refresh the MCP servers in Windsurf."
_ROWS: tuple[tuple[Any, ...], ...] = (
    ("claude-desktop", _list_claude_desktop_files, _SERVERS, _shape_plain, _DESKTOP),
    ("claude-code", _find_in_home(".claude.json"), _SERVERS, _shape_claude_code, NEW_SESSION),
    ("cursor", _find_in_home(".cursor/mcp.json"), _SERVERS, _shape_plain, _CURSOR),
    ("vscode", _list_vscode_files, ("servers", "ctxfold"), _shape_stdio, "Run `MCP: List Servers` and start ctxfold."),
    ("copilot-cli", _find_in_home(".copilot/mcp-config.json"), _SERVERS, _shape_copilot, NEW_SESSION),
    ("codex", _find_in_home(".codex/config.toml"), ("mcp_servers", "ctxfold"), _shape_plain, NEW_SESSION),
    ("gemini", _find_in_home(".gemini/settings.json"), _SERVERS, _shape_plain, NEW_SESSION),
    ("opencode", _find_in_home(".config/opencode/opencode.json"), ("mcp", "ctxfold"), _shape_opencode, NEW_SESSION),
    ("windsurf", _find_in_home(".codeium/windsurf/mcp_config.json"), _SERVERS, _shape_plain, _WINDSURF),
)
HOSTS: dict[str, InstallHost] = {row[0]: InstallHost(*row) for row in _ROWS}
"""Every host by its name."""

BACKUP = "before-ctxfold"
"""The ending of a copy's name."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after, None if it does not exist; its copy, and the ending of the copy's name."""

    path: PurePath
    before: str | None
    after: str | None
    backup: str | None
    mark: str = BACKUP

    @property
    def has_changes(self) -> bool:
        """Whether the file differs afterwards."""
        return self.before != self.after


@contextmanager
def name_file(path: PurePath) -> Iterator[None]:
    """Put a file's name before the errors of the block."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def plan_install(
    host: InstallHost, launch: Launch, path: PurePath, before: str | None, backup: str | None
) -> FileChange:
    """Put our entry into a file, unless it is there. Raises InputError: the file is not in the host's format."""
    entry, editor = host.shape(launch), choose_editor(path)
    with name_file(path):
        present = editor.get(before or "", host.path)
        after = before if present == entry else editor.put(before or "", host.path, entry)
        return FileChange(path, before, after, before if present is None else backup)


def plan_uninstall(host: InstallHost, path: PurePath, before: str | None, backup: str | None) -> FileChange:
    """Take our entry out of a file, if it is there. Raises InputError: the file is not in the host's format."""
    editor = choose_editor(path)
    with name_file(path):
        present = editor.get(before or "", host.path)
        if before is None or present is None:
            return FileChange(path, before, before, backup)
        is_only_ours = editor.put(backup or "", host.path, present) == before
        return FileChange(path, before, backup if is_only_ours else editor.drop(before, host.path), None)


def name_backup(path: PurePath, mark: str = BACKUP) -> Path:
    """The path of a file's copy, in the same folder."""
    return Path(path).with_name(f"{path.name}.{mark}")


def read_file(path: PurePath) -> str | None:
    """The text of a file, newlines as they are, or None. Raises InputError: it is unreadable or not UTF-8."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path} cannot be read ({why}): correct it by hand, then run this again") from error


class ChangePlan:
    """Changes that are planned one after another, each on the text that the earlier ones leave, and made together.

    `files`: each settings file that was looked at, as it is.
    """

    def __init__(self, home: Path) -> None:
        self.files: dict[Path, str | None] = {}
        self._home = home
        self._before: dict[Path, str | None] = {}
        self._after: dict[Path, str | None] = {}

    def read(self, path: PurePath, mark: str = BACKUP) -> tuple[str | None, str | None]:
        """The texts of a file and of its copy as they will be. Raises InputError: one cannot be read."""
        for file in (Path(path), name_backup(path, mark)):
            if file not in self._after:
                self._before[file] = self._after[file] = read_file(file)
        return self._after[Path(path)], self._after[name_backup(path, mark)]

    def add(self, change: FileChange) -> None:
        """Plan one more change, of a file that was read."""
        self.files[Path(change.path)] = self._before[Path(change.path)]
        if change.has_changes:
            self._after |= {Path(change.path): change.after, name_backup(change.path, change.mark): change.backup}

    def list_changes(self) -> list[tuple[Path, str | None, str | None]]:
        """Each settings file that was looked at, as it is and as it will be."""
        return [(path, before, self._after[path]) for path, before in self.files.items()]

    def make(self) -> None:
        """Make all changes, and remove folders below the user's home that a removed file leaves empty.

        Raises InputError: a file cannot be written.
        """
        for path in reversed(self._after):  # a copy before its file
            if self._after[path] != self._before[path]:
                _write_file(path, self._after[path])
        for path, before, after in self.list_changes():
            if before is not None and after is None:
                _remove_empty([folder for folder in path.parents if folder.is_relative_to(self._home)])


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove empty folders from the innermost on. The outermost stays."""
    for folder in folders[:-1]:
        if folder.is_dir():
            if any(folder.iterdir()):
                return
            folder.rmdir()


def _write_file(path: Path, text: str | None) -> None:
    """Replace a file at once, or remove it for None. Of a link, the file that it leads to is written.

    Raises InputError: it cannot be written.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if text is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(mode=0o600, exist_ok=False)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.write_bytes(text.encode("utf-8"))
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written ({error.strerror}): check its rights") from error
