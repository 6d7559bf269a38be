"""Where sessions are kept: opens the store of an address."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ctxfold.errors import InputError, NotOurStore

if TYPE_CHECKING:
    from ctxfold.store.sqlite import Store

__all__ = ["is_there", "open_store"]


def open_store(address: str) -> Store:
    """The store at an address.

    Args:
        address: `:memory:`, a path, or `sqlite:///path`.

    Raises:
        InputError: no path: one with a NUL character, or a `file:` address.
        NotOurStore: an address of a kind that is not known, or a file that is something else.
        StoreError: it cannot be opened.
    """
    from ctxfold.store.sqlite import Store

    return Store(_file_of(address))


def is_there(address: str) -> bool:
    """Whether a store was made at an address, so that who only reads makes none. Of what cannot be told, opening it says why.

    Raises:
        InputError: no path: one with a NUL character, or a `file:` address.
        NotOurStore: an address of a kind that is not known.
    """
    try:
        os.stat(_file_of(address))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def _file_of(address: str) -> str:
    """The file of an address, or `:memory:`."""
    if "\0" in address:
        raise InputError("a store's path holds no NUL character; give a path or sqlite:///path")
    if address.startswith("file:"):
        raise InputError("file: is not a store this version knows; give the path alone, or sqlite:///path")
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    if scheme == "sqlite" and rest:
        return rest.removeprefix("/") if rest.startswith("//") else rest
    raise NotOurStore(f"{scheme}:// is not a store this version knows; give a path or sqlite:///path")
