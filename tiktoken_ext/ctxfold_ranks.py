"""Lets `tiktoken.get_encoding("o200k_base")` work offline for every program of this environment.

tiktoken looks for plugins in this namespace, and refuses one that names an encoding it already has. So this plugin
names none: when it is found, it puts the rank table that ships with ctxfold where tiktoken looks before it downloads.
It imports nothing of ctxfold, writes at most one file, and never raises: a program that only uses tiktoken must not
fail because of us.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = {}
"""What tiktoken reads from a plugin: the encodings it adds, here none."""

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""Where tiktoken would download the table. Its cache names a file by the SHA-1 of its address."""

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the table: what tiktoken demands."""


def fill_cache() -> Path | None:
    """Put the table into tiktoken's cache, unless it is there: the folder that the user named, else tiktoken's own.

    Returns:
        The file, or None when the cache is off (an empty name) or nothing can be written.
    """
    own = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", own))
    try:
        return _write_table(Path(folder)) if folder else None
    except (OSError, EOFError, ValueError, zlib.error):
        return None  # no right to write here, or a damaged installation: tiktoken then does what it did without us


def _write_table(folder: Path) -> Path | None:
    """The table's file in `folder`, written at once or not at all, so that racing processes see all of it; None where
    ctxfold's own is missing.
    """
    place = folder / hashlib.sha1(ADDRESS.encode(), usedforsecurity=False).hexdigest()
    if place.is_file() and _is_table(place.read_bytes()):
        return place
    table = _read_table()
    if table is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=folder, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(table)
        os.chmod(draft, 0o644)  # tiktoken's own folder serves every user of the machine
        os.replace(draft, place)
    except OSError:
        os.unlink(draft)
        raise
    return place


def _read_table() -> bytes | None:
    """The rank table from ctxfold's package data, or None where ctxfold is gone or its file is not the one expected."""
    spec = find_spec("ctxfold")
    packed = Path(spec.origin or "").with_name("tokens") / "data" / "o200k_base.tiktoken.gz" if spec else Path()
    table = gzip.decompress(packed.read_bytes()) if packed.is_file() else b""
    return table if _is_table(table) else None


def _is_table(data: bytes) -> bool:
    """Whether these bytes are the table that tiktoken demands."""
    return hashlib.sha256(data).hexdigest() == SHA256


fill_cache()
