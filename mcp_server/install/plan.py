"""Decides what installing or uninstalling changes in one settings file, before anything is written.

Before the first change the file is kept beside itself. Uninstalling puts that copy back when nothing but our entry has changed since, so that it is undone
to the byte; otherwise it takes out our entry alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from types import ModuleType

from ctxfold.errors import InputError
from mcp_server.install import jsonc, toml
from mcp_server.install.hosts import Host, Launch

__all__ = ["KEPT", "Change", "choose_editor", "plan_install", "plan_uninstall"]

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
