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

_BLANK = "\ufeff \t\r\n"
_SKIP = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"/]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Member:
    """One `"key": value` of an object: where it starts, and its value."""

    key: str
    start: int
    value: _Node


@dataclass(frozen=True, slots=True)
class _Node:
    """One value of a JSON text.

    `start`, `end`: its place in the text; `members`: of an object; `comma`: whether one follows the last member.
    """

    start: int
    end: int
    data: Any
    members: tuple[_Member, ...] | None = None
    comma: bool = False

    def find(self, key: str) -> _Member | None:
        return next((member for member in reversed(self.members or ()) if member.key == key), None)


def get_json(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; or None. Raises InputError: the text, or a value on the way, is not an object."""
    steps = _walk(text, path) if text.strip(_BLANK) else []
    member = steps[-1][1] if len(steps) == len(path) else None
    return None if member is None else member.value.data


def put_json(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with another value at a path, or a new one. Raises InputError: as `get_json`."""
    if not text.strip(_BLANK):
        return json.dumps(_nest(path, value), indent=2, ensure_ascii=False) + "\n"
    steps = _walk(text, path)
    depth, (parent, member) = len(steps), steps[-1]
    indented = re.search(r"^([ \t]+)[\"}]", text, re.MULTILINE)
    step, newline = indented[1] if indented else "  ", "\r\n" if "\r\n" in text else "\n"
    lead = newline + step * depth
    printed = lead.join(json.dumps(_nest(path[depth:], value), indent=step, ensure_ascii=False).split("\n"))
    if member is not None:
        return text[: member.value.start] + printed + text[member.value.end :]
    new = f"{json.dumps(path[depth - 1])}: {printed}"
    if not parent.members:
        head = text[: parent.end - 1].rstrip(" \t\r\n")
        return f"{head}{lead}{new}{newline}{step * (depth - 1)}{text[parent.end - 1 :]}"
    last = parent.members[-1].value.end
    if parent.comma:
        last = _skip(text, last) + 1
        return f"{text[:last]}{lead}{new},{text[last:]}"
    return f"{text[:last]},{lead}{new}{text[last:]}"


def drop_json(text: str, path: tuple[str, ...]) -> str:
    """The text without the member at a path, its comma and blanks. Raises InputError: as `get_json`."""
    steps = _walk(text, path) if text.strip(_BLANK) else []
    parent, member = steps[-1] if len(steps) == len(path) else (None, None)
    if parent is None or member is None:
        return text
    members, end = parent.members or (), member.value.end
    head = text[: member.start].rstrip(" \t\r\n")
    if parent.comma or member is not members[-1]:
        return head + text[_skip(text, end) + 1 :]
    if member is not members[0]:
        comma = _skip(text, members[-2].value.end)
        return head[:comma] + head[comma + 1 :] + text[end:]
    return head + text[parent.end - 1 if head.endswith("{") else end :]


def _walk(text: str, path: tuple[str, ...]) -> list[tuple[_Node, _Member | None]]:
    """Each object on the way down a path with its member, to the first that is missing."""
    at, steps = _read(text, 0), list[tuple[_Node, _Member | None]]()
    for key in path:
        if at.members is None:
            raise _fault(text, at.start, "an object")
        member = at.find(key)
        steps.append((at, member))
        if member is None:
            break
        at = member.value
    return steps


def _read(text: str, at: int) -> _Node:
    """The value that begins at a place, after what may be skipped."""
    start = _skip(text, at)
    if text[start] in "{[":
        return _read_members(text, start)
    found = _SCALAR.match(text, start)
    if found is None:
        raise _fault(text, start, "a value")
    try:
        return _Node(start, found.end(), json.loads(found[0], strict=False))
    except ValueError as error:
        raise _fault(text, start, "a value") from error


def _read_members(text: str, start: int) -> _Node:
    """The object or list that begins at a place."""
    is_object, closing = text[start] == "{", {"{": "}", "[": "]"}[text[start]]
    members: list[_Member] = []
    items: list[Any] = []
    at, comma = _skip(text, start + 1), False
    while text[at] != closing:
        if items and not comma:
            raise _fault(text, at, f"a comma or {closing}")
        key, value = _read_member(text, at) if is_object else ("", _read(text, at))
        members.append(_Member(key, at, value))
        items.append(value.data)
        at = _skip(text, value.end)
        comma = text[at] == ","
        at = _skip(text, at + 1) if comma else at
    if not is_object:
        return _Node(start, at + 1, items)
    return _Node(start, at + 1, {each.key: each.value.data for each in members}, tuple(members), comma)


def _read_member(text: str, at: int) -> tuple[str, _Node]:
    key = _read(text, at)
    if not isinstance(key.data, str):
        raise _fault(text, at, "a key in quotes")
    colon = _skip(text, key.end)
    if text[colon] != ":":
        raise _fault(text, colon, "a colon")
    return key.data, _read(text, colon + 1)


def _nest(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _skip(text: str, at: int) -> int:
    """The next place after blanks and comments."""
    found = _SKIP.match(text, at)
    end = found.end() if found else at
    if end >= len(text):
        raise _fault(text, end, "more: it breaks off")
    return end


def _fault(text: str, at: int, wanted: str) -> InputError:
    line = text.count("\n", 0, at) + 1
    return InputError(f"line {line} is not JSON (it should have {wanted}): correct it by hand, then run this again")


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
    """Reads, sets and removes the value at a path of keys in a text of one format."""

    get: Callable[[str, tuple[str, ...]], Any]
    put: Callable[[str, tuple[str, ...], Any], str]
    drop: Callable[[str, tuple[str, ...]], str]


JSON = Editor(get_json, put_json, drop_json)
TOML = Editor(get_toml, put_toml, drop_toml)


def choose_editor(path: PurePath) -> Editor:
    """The editor for a file, by its ending."""
    return TOML if path.suffix == ".toml" else JSON
