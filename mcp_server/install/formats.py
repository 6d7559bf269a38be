"""Edits one value in a settings file and leaves the rest of its text as it is: JSON with comments, and TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError
from tomlkit.items import InlineTable

from ctxfold.errors import InputError

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/|\ufeff", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_KEY = re.compile(rf"[\s,]*({_STRING})\s*:\s*", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class _Member:
    """One `"key": value` of an object: its value, and the places where key and value start and the value ends.

    `comma`: the place of the comma that follows, or None.
    """

    key: str
    value: Any
    start: int
    value_start: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class _Object:
    """An object of a JSON text: its members, and the place of its closing brace."""

    members: tuple[_Member, ...]
    brace: int


def get_json(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; or None. Raises InputError: the text, or a value on the way, is not an object."""
    member = _find_member(text, path)
    return None if member is None else member.value


def put_json(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with another value at a path, or a new one. Raises InputError: as `get_json`."""
    if not text.strip("\ufeff \t\r\n"):
        return json.dumps(_nest(path, value), indent=2, ensure_ascii=False) + "\n"
    steps = _walk(text, path)
    depth, (parent, member) = len(steps), steps[-1]
    indented = re.search(r"^([ \t]+)[\"}]", text, re.MULTILINE)
    step, newline = indented[1] if indented else "  ", "\r\n" if "\r\n" in text else "\n"
    lead = newline + step * depth
    printed = lead.join(json.dumps(_nest(path[depth:], value), indent=step, ensure_ascii=False).split("\n"))
    if member is not None:
        return text[: member.value_start] + printed + text[member.end :]
    new = f"{json.dumps(path[depth - 1])}: {printed}"
    if not parent.members:
        head = text[: parent.brace].rstrip(" \t\r\n")
        return f"{head}{lead}{new}{newline}{step * (depth - 1)}{text[parent.brace :]}"
    last = parent.members[-1]
    if last.comma is not None:
        return f"{text[: last.comma + 1]}{lead}{new},{text[last.comma + 1 :]}"
    return f"{text[: last.end]},{lead}{new}{text[last.end :]}"


def drop_json(text: str, path: tuple[str, ...]) -> str:
    """The text without the member at a path, its comma and blanks. Raises InputError: as `get_json`."""
    member = _find_member(text, path)
    if member is None:
        return text
    parent = _walk(text, path)[-1][0]
    head = text[: member.start].rstrip(" \t\r\n")
    if member.comma is not None:
        return head + text[member.comma + 1 :]
    before = parent.members[-2].comma if len(parent.members) > 1 else None
    if before is not None:
        return head[:before] + head[before + 1 :] + text[member.end :]
    return head + text[parent.brace if head.endswith("{") else member.end :]


def copy_json(text: str, path: tuple[str, ...], source: str) -> str:
    """The text with the value at a path as it is written in another text, which has one. Raises as `get_json`."""
    text = put_json(text, path, None)
    new, old = _find_member(source, path), _find_member(text, path)
    assert new is not None and old is not None  # noqa: PT018
    return text[: old.value_start] + source[new.value_start : new.end] + text[old.end :]


def _find_member(text: str, path: tuple[str, ...]) -> _Member | None:
    steps = _walk(text, path) if text.strip("\ufeff \t\r\n") else []
    return steps[-1][1] if len(steps) == len(path) else None


def _walk(text: str, path: tuple[str, ...]) -> list[tuple[_Object, _Member | None]]:
    """Each object on the way down a path with its member, to the first that is missing."""
    clean = _blank(_COMMENT, text)
    plain = _blank(_LAST_COMMA, clean)
    try:
        _DECODER.decode(plain)
    except json.JSONDecodeError as error:
        raise _fault(error.lineno, error.msg) from error
    start, steps = len(plain) - len(plain.lstrip()), list[tuple[_Object, _Member | None]]()
    for key in path:
        if plain[start] != "{":
            raise _fault(plain.count("\n", 0, start) + 1, "no object")
        parent = _read_object(clean, plain, start)
        member = next((member for member in reversed(parent.members) if member.key == key), None)
        steps.append((parent, member))
        if member is None:
            break
        start = member.value_start
    return steps


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with spaces in place of each match, strings left as they are."""
    return pattern.sub(lambda match: match[0] if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0]), text)


def _read_object(clean: str, plain: str, start: int) -> _Object:
    """The object that begins at a place. `clean`: without comments; `plain`: without commas after last members too."""
    members, end = list[_Member](), start + 1
    while key := _KEY.match(plain, end):
        value, end = _DECODER.raw_decode(plain, key.end())
        following = len(clean) - len(clean[end:].lstrip())
        comma = following if clean[following] == "," else None
        members.append(_Member(_DECODER.decode(key[1]), value, key.start(1), key.end(), end, comma))
    return _Object(tuple(members), plain.index("}", end))


def _nest(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _fault(line: int, why: str) -> InputError:
    return InputError(f"line {line} is not JSON ({why}): correct it by hand, then run this again")


def get_toml(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path, or None. Raises InputError: the text is not TOML."""
    at: Any = _parse(text).unwrap()
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at


def put_toml(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """The text with another table at a path, or a new one at the end of its parent.

    Raises InputError: the text is not TOML, or a value on the way is not a table.
    """
    document = _parse(text)
    parent = _find_parent(document, path)
    table = tomlkit.inline_table() if isinstance(parent, InlineTable) else tomlkit.table()
    table.update(value)
    try:
        parent[path[-1]] = table
    except TOMLKitError as error:
        raise InputError(
            f"{'.'.join(path)} cannot be written ({error}): correct it by hand, then run this again"
        ) from error
    return tomlkit.dumps(document)


def drop_toml(text: str, path: tuple[str, ...]) -> str:
    """The text without the table at a path. Raises InputError: the text is not TOML."""
    if get_toml(text, path) is None:
        return text
    document = _parse(text)
    del _find_parent(document, path)[path[-1]]
    return tomlkit.dumps(document)


def copy_toml(text: str, path: tuple[str, ...], source: str) -> str:
    """The text with the table at a path as it is written in another text, which has one. Raises as `put_toml`."""
    document = _parse(text)
    _find_parent(document, path)[path[-1]] = _find_parent(_parse(source), path)[path[-1]]
    return tomlkit.dumps(document)


def _find_parent(document: tomlkit.TOMLDocument, path: tuple[str, ...]) -> MutableMapping[str, Any]:
    """The table that holds the last key of a path; those on the way are made."""
    at: MutableMapping[str, Any] = document
    for key in path[:-1]:
        below = at.setdefault(key, tomlkit.table(is_super_table=True))
        if not isinstance(below, MutableMapping):
            raise InputError(f"{key} is not a table: correct it by hand, then run this again")
        at = below
    return at


def _parse(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise InputError(f"not TOML ({error}): correct it by hand, then run this again") from error


class Editor(NamedTuple):
    """Reads, sets, removes and copies the value at a path of keys in a text of one format."""

    get: Callable[[str, tuple[str, ...]], Any]
    put: Callable[[str, tuple[str, ...], Any], str]
    drop: Callable[[str, tuple[str, ...]], str]
    copy: Callable[[str, tuple[str, ...], str], str]


JSON = Editor(get_json, put_json, drop_json, copy_json)
TOML = Editor(get_toml, put_toml, drop_toml, copy_toml)


def choose_editor(path: PurePath) -> Editor:
    """The editor for a file, by its ending."""
    return TOML if path.suffix == ".toml" else JSON
