"""Reads hosts' settings files, and replaces them in one step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePath

from ctxfold.errors import InputError
from mcp_server.install.plan import KEPT, Change

__all__ = ["apply", "name_backup", "read"]


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
