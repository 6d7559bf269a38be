"""The checks of `ctxfold doctor`: what works on this machine, and the fix for what does not.

Other packages add theirs through the entry-point group `ctxfold.checks`: each member is a function without arguments that returns a `Check`.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from ctxfold import config
from ctxfold.cli.check import Check
from ctxfold.cli.model_checks import check_models
from ctxfold.errors import CtxfoldError
from ctxfold.text.words import counted

__all__ = ["Check", "run_checks"]

GROUP = "ctxfold.checks"
"""The entry-point group of further checks."""

LEAST_PYTHON = (3, 11)


def run_checks(store: str | None = None) -> tuple[Check, ...]:
    """Look at everything: the core's own first, then what other packages bring. `store`: a store's path or URL, the configured one for None."""
    own = (_check_python(), _check_store(store), _check_sqlite(), _check_tokens())
    return (*own, *check_models(), *_load_others())


def _load_others() -> list[Check]:
    found = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            look: Callable[[], Check] = entry.load()
        except ImportError as error:
            found.append(Check(entry.name, False, f"does not load ({error})", "pip install --force-reinstall ctxfold"))
        else:
            found.append(look())
    return found


def _check_python() -> Check:
    fact = f"{platform.python_version()} at {sys.executable}"
    return Check("python", sys.version_info >= LEAST_PYTHON, fact, "install Python 3.11 or newer")


def _check_store(named: str | None) -> Check:
    try:
        place = named or config.default_store()
        if "://" not in place and not place.startswith("file:") and not Path(place).exists():
            return _check_place(Path(place))
        found, scrubbed = _look_into(place)
    except CtxfoldError as error:
        return Check("store", False, str(error), "set CTXFOLD_HOME to a folder of your own, or move that file away")
    fact = f"{place} ({counted(found, 'session')})"
    if scrubbed:
        return Check("store", True, fact)
    fact += " still holds bytes of what was redacted or deleted: another process is at work in it, or the disk is full"
    return Check(
        "store", False, fact, "wait for that process or end it, or free some space; then run `ctxfold doctor` again"
    )


def _look_into(place: str) -> tuple[int, bool]:
    """How many sessions a store holds, and whether nothing that was removed from it remains in its file."""
    from ctxfold.store import open_store

    with open_store(place) as kept:
        with kept.reading() as tx:
            found = len(tx.sessions.names())
        return found, kept.finish()


def _check_place(store: Path) -> Check:
    """Whether a store that is not there yet can be made."""
    folder = next(parent for parent in store.absolute().parents if parent.exists())
    writable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    fact = f"{store} (not there yet; made on first use)" if writable else f"{folder} cannot be written to"
    return Check("store", writable, fact, "set CTXFOLD_HOME to a folder you may write to")


def _check_sqlite() -> Check:
    from ctxfold.store.guard import is_needed, sqlite_version

    known = " (has the WAL-reset fault fixed in 3.51.3; every write is guarded by a lock)" if is_needed() else ""
    return Check("sqlite", True, sqlite_version() + known)


def _check_tokens() -> Check:
    from ctxfold.tokens.ranks import encoding

    fix = "pip install --force-reinstall ctxfold"
    try:
        table = encoding()
    except CtxfoldError as error:
        return Check("tokens", False, str(error), fix)
    return Check("tokens", True, f"{table.name}, {table.n_vocab:,} tokens, checksum as packed")
