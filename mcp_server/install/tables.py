"""One table put into, or dropped from, TOML text, every other byte left as it was. It knows tables written under a `[header]`, which is how hosts write them.

The standard library reads TOML and writes none. What is read back is checked by it: text that doesn't say what was meant is never returned.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from ctxfold.errors import InputError

__all__ = ["drop", "get", "put"]

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_TAIL = re.compile(r"(?:^[ \t]*(?:#[^\n]*)?(?:\n|\Z))+\Z", re.MULTILINE)
_BY_HAND = "{} is written in a form this can't change: take it out by hand, then run this again"


def get(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; None where there is nothing.

    Raises:
        InputError: the text is not TOML.
    """
    at: Any = _read(text)
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at


def put(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """The text with a table of strings and lists of strings, in place of the one that was there, else at the end.

    Args:
        text: TOML; may be blank.
        path: the keys of the table's header.
        value: its members.

    Raises:
        InputError: the text is not TOML, or has the table in another form than under a header.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    table = newline.join(
        [
            f"[{'.'.join(path)}]",
            *(f"{key} = {json.dumps(member, ensure_ascii=False)}" for key, member in value.items()),
            "",
        ]
    )
    found = _table(text, path)
    if found is None and get(text, path) is not None:
        raise InputError(_BY_HAND.format(".".join(path)))
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    new = text[: found[0]] + table + text[found[1] :] if found else text + gap + table
    if get(new, path) != value:
        raise InputError(_BY_HAND.format(".".join(path)))
    return new


def drop(text: str, path: tuple[str, ...]) -> str:
    """The text without a table and the blank line before it; the text itself where there is none.

    Raises:
        InputError: as for `put`.
    """
    if get(text, path) is None:
        return text
    found = _table(text, path)
    new = text[: found[0]].removesuffix("\n").removesuffix("\r") + text[found[1] :] if found else text
    if get(new, path) is not None:
        raise InputError(_BY_HAND.format(".".join(path)))
    return new


def _table(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the table begins and ends; blank lines and comments after it belong to what follows."""
    keys = r"\s*\.\s*".join(rf"(?:{key}|\"{key}\"|'{key}')" for key in map(re.escape, path))
    head = re.search(rf"^[ \t]*\[\s*{keys}\s*\][^\n]*$", text, re.MULTILINE)
    if head is None:
        return None
    following = _HEADER.search(text, head.end())
    table = text[head.start() : following.start() if following else len(text)]
    return head.start(), head.start() + len(_TAIL.sub("", table))


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML ({error}): put it right by hand, then run this again") from error
