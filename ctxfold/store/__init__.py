"""Where sessions are kept: opens the store of an address. `Query` is what rows need of a database."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from ctxfold.errors import InputError, NotOurStore

if TYPE_CHECKING:
    from ctxfold.store.sqlite import Store


class Query(Protocol):
    """What rows need of a database: a function that runs one statement with named parameters, `:name`, and returns its
    rows. Every error is a StoreError.
    """

    def __call__(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """Run the statement."""


def open_store(address: str) -> Store:
    """The store at an address, made where it is missing.

    Args:
        address: `:memory:`, a path, or `sqlite:///path`.

    Raises:
        InputError: not a path: a NUL character, or a `file:` address.
        NotOurStore: an address of an unknown kind, or the file of another program.
        StoreError: it cannot be opened.
    """
    from ctxfold.store.sqlite import Store

    return Store(_find_file(address))


def is_there(address: str) -> bool:
    """Whether there is a store at an address, so that a reader makes none. True where only opening it can tell.

    Raises:
        InputError: not a path: a NUL character, or a `file:` address.
        NotOurStore: an address of an unknown kind.
    """
    try:
        os.stat(_find_file(address))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def _find_file(address: str) -> str:
    """The file of an address, or `:memory:`."""
    if "\0" in address:
        raise InputError("a store's path holds no NUL character; give a path or sqlite:///path")
    if address.startswith("file:"):
        raise InputError("this version does not know file: addresses; give the path alone, or sqlite:///path")
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    if scheme == "sqlite" and rest:
        return rest.removeprefix("/") if rest.startswith("//") else rest
    raise NotOurStore(f"this version does not know {scheme}:// addresses; give a path or sqlite:///path")
