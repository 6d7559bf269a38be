"""Reads hosts' settings files, and replaces them in one step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath

from ctxfold.errors import InputError
from mcp_server.install.plan import KEPT, Change

__all__ = ["Desk", "apply", "name_backup", "read"]


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
