"""Keeps pictures of steps as files beside the store, and removes them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ctxfold.errors import InputError

__all__ = ["LARGEST", "folder_of", "forget", "keep"]

LARGEST = 60_000
"""Bytes of a picture that is kept."""


def folder_of(store: str, session: str) -> Path | None:
    """Where a session's pictures lie, whether there are any or not; None for a store that is no file."""
    if store == ":memory:" or "://" in store:
        return None
    return Path(f"{store}.pictures") / session


def keep(store: str, session: str, step: int, picture: bytes) -> None:
    """Keep a step's picture, private to its owner; a newer one takes its place. Raises InputError: it is no bytes, is larger, or cannot be written."""
    folder = folder_of(store, session)
    if folder is None:
        return
    if not isinstance(picture, bytes):
        raise InputError(f"a picture is bytes, not {type(picture).__name__}; give those of a JPEG")
    if len(picture) > LARGEST:
        raise InputError(f"a picture of {len(picture)} bytes is not kept; make it {LARGEST} at most")
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        with open(os.open(folder / f"s{step}.jpg", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as out:
            out.write(picture)
    except OSError as error:
        raise InputError(
            f"a picture cannot be written to {folder} ({error.strerror}); leave --screenshots out"
        ) from error


def forget(store: str, session: str) -> None:
    """Remove all of a session's pictures."""
    folder = folder_of(store, session)
    if folder is not None and folder.is_dir():
        shutil.rmtree(folder)
