"""Reads single environment variables, and says where ctxfold's data and settings lie."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from ctxfold.errors import ReadOnlyStore

__all__ = ["default_store", "home", "read", "settings_file"]


def read(name: str) -> str | None:
    """One variable, trimmed; None when it is unset or blank."""
    return os.environ.get(name, "").strip() or None


def home() -> Path:
    """The folder that holds everything ctxfold keeps; created private to its owner (0700) if it is not there. Raises ReadOnlyStore: it cannot be created."""
    named = read("CTXFOLD_HOME")
    folder = Path(named).expanduser() if named else platformdirs.user_data_path("ctxfold", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ReadOnlyStore(
            f"cannot create {folder} ({error.strerror}): set CTXFOLD_HOME to a folder you may write to"
        ) from error
    return folder


def default_store() -> str:
    """The store used when none is named: what ``CTXFOLD_DATABASE_URL`` says, else the path of ``ctxfold.db`` in `home()`.

    Raises:
        ReadOnlyStore: the folder for it cannot be created.
    """
    return read("CTXFOLD_DATABASE_URL") or str(home() / "ctxfold.db")


def settings_file() -> Path:
    """Where the settings file is looked for: ``CTXFOLD_SETTINGS``, else ``settings.toml`` in ``CTXFOLD_HOME``, else in the user's settings folder."""
    named, kept = read("CTXFOLD_SETTINGS"), read("CTXFOLD_HOME")
    if named:
        return Path(named).expanduser()
    folder = Path(kept).expanduser() if kept else platformdirs.user_config_path("ctxfold", appauthor=False)
    return folder / "settings.toml"
