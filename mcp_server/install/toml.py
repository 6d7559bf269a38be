"""Adds or removes one table in the text of a TOML file and keeps everything else."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError
from tomlkit.items import InlineTable

from ctxfold.errors import InputError

__all__ = ["drop", "get", "put"]


def get(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; None where there is nothing. Raises InputError: the text is not TOML."""
    at: Any = _parse(text).unwrap()
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at


def put(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """The text with a table at a path, in place of what was there, else at the end of its parent. Raises InputError: the text is not TOML, or something on the way is no table."""
    document = _parse(text)
    parent = _find_parent(document, path)
    table = tomlkit.inline_table() if isinstance(parent, InlineTable) else tomlkit.table()
    table.update(value)
    try:
        parent[path[-1]] = table
    except TOMLKitError as error:
        raise InputError(
            f"{'.'.join(path)} cannot be written ({error}): put it right by hand, then run this again"
        ) from error
    return tomlkit.dumps(document)


def drop(text: str, path: tuple[str, ...]) -> str:
    """The text without the table at a path; the text itself where there is none. Raises InputError: the text is not TOML."""
    if get(text, path) is None:
        return text
    document = _parse(text)
    del _find_parent(document, path)[path[-1]]
    return tomlkit.dumps(document)


def _find_parent(document: tomlkit.TOMLDocument, path: tuple[str, ...]) -> MutableMapping[str, Any]:
    """The table that holds the last key of a path; those on the way are made."""
    at: MutableMapping[str, Any] = document
    for key in path[:-1]:
        below = at.setdefault(key, tomlkit.table(is_super_table=True))
        if not isinstance(below, MutableMapping):
            raise InputError(f"{key} is no table: put it right by hand, then run this again")
        at = below
    return at


def _parse(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise InputError(f"not TOML ({error}): put it right by hand, then run this again") from error
