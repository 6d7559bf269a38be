"""Reads a text file that a host named, if it is one that a model may read.

A model asks for it, which a page may have talked into it: so it must lie in one of the host's folders, and what is hidden there (any part that starts
with a dot) and what the system shows of itself are refused, wherever links lead.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxfold.errors import InputError, Refused

__all__ = ["LARGEST", "TextFile", "read_text_file"]

LARGEST = 10_000_000
"""Most bytes taken in from one file."""

_SYSTEM = tuple(Path(root) for root in ("/proc", "/sys", "/dev"))


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it was read: where it really lies, its text, its size in bytes."""

    path: str
    text: str
    size: int


def read_text_file(name: str, folders: Sequence[Path]) -> TextFile:
    """Read one file that lies in one of these folders. The whole file system is no folder: a server that was started there was started nowhere in particular.

    Raises:
        InputError: the path is relative, not there, not a plain file, too large, or not UTF-8 text.
        Refused: it lies outside the folders, or leads into a hidden folder or the system's own files.
    """
    path = _resolve(name)
    real = [folder.resolve() for folder in folders]
    folder = next((one for one in real if one != Path(one.anchor) and path.is_relative_to(one)), None)
    if folder is None:
        raise Refused(
            "file lies outside the folders that may be read, which are the host's roots or, of a host without any, the one this server was started in: "
            "copy what is needed there, or give the text itself"
        )
    below = path.relative_to(folder).parts
    if any(part.startswith(".") for part in below) or any(path.is_relative_to(root) for root in _SYSTEM):
        raise Refused(
            "file leads to a hidden or system place, which often holds keys: copy what is needed to a plain folder, or give the text itself"
        )
    raw = _read_bytes(path)
    try:
        return TextFile(str(path), raw.decode("utf-8"), len(raw))
    except UnicodeDecodeError as error:
        raise InputError(
            f"file is not UTF-8 text (byte {error.start}): convert it first, or give the text itself"
        ) from error


def _resolve(name: str) -> Path:
    """Where a path leads, whether or not anything is there: of what lies outside the folders, not even that is told."""
    if "\0" in name or not Path(name).is_absolute():
        raise InputError("file must be an absolute path: the server's own folder is not yours")
    try:
        return Path(os.path.realpath(name))
    except ValueError as error:
        raise InputError("file is no path of this system: check it") from error


def _read_bytes(path: Path) -> bytes:
    """The bytes of a plain file. It is opened without waiting, so that a pipe or device can't hold us, and judged by what was opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InputError(f"file cannot be opened ({error.strerror}): check the path and its rights") from error
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise InputError("file is a folder or device: name a plain file")
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(
            f"file has {facts.st_size} bytes; at most {LARGEST} are taken in: split it, or give the part that matters"
        )
    return raw
