"""One member put into, or dropped from, the text of a JSON object, every other byte left as it was: comments, order, indents and all.

Hosts let people write comments and trailing commas in these files, and people keep them tidy by hand; parsing and printing anew would lose that.
Python has no well-kept library that edits JSON in place, so this is a small scanner of our own: it finds where members begin and end and judges nothing else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ctxfold.errors import InputError

__all__ = ["drop", "get", "put"]

_SKIP = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ATOM = re.compile(r"[^\s,\]}/]+")


@dataclass(frozen=True, slots=True)
class _Member:
    """One `"key": value` of an object, by its places in the text."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """One object: the places of its braces, its members, and whether a comma follows the last."""

    start: int
    end: int
    members: tuple[_Member, ...]
    trailing: bool

    def find(self, key: str) -> _Member | None:
        return next((member for member in reversed(self.members) if member.key == key), None)


def get(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; None where there is nothing.

    Args:
        text: JSON with comments and trailing commas allowed; blank means `{}`.
        path: keys from the outermost object in.

    Raises:
        InputError: the text is not an object, or something on the way is none.
    """
    parent = _parent(text, path) if text.strip("\ufeff \t\r\n") else None
    member = parent.find(path[-1]) if parent else None
    return None if member is None else json.loads(_plain(text[member.value : member.end]))


def put(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with a value at a path, in place of what was there.

    Args:
        text: as for `get`.
        path: keys from the outermost object in; those missing are made.
        value: what `json` can print.

    Raises:
        InputError: as for `get`.
    """
    if not text.strip("\ufeff \t\r\n"):
        return json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    step, newline = _indent(text), "\r\n" if "\r\n" in text else "\n"
    at = _object(text, _skip(text, 0))
    for depth, key in enumerate(path, 1):
        member = at.find(key)
        if member is None:
            printed = _printed(_nested(path[depth:], value) if path[depth:] else value, step, depth, newline)
            return _added(text, at, f"{json.dumps(key)}: {printed}", step, depth, newline)
        if depth == len(path):
            return text[: member.value] + _printed(value, step, depth, newline) + text[member.end :]
        at = _object(text, member.value)
    raise AssertionError("a path has at least one key")


def drop(text: str, path: tuple[str, ...]) -> str:
    """The text without the member at a path, its comma and the blank it stood in; the text itself where there is none.

    Args:
        text: as for `get`.
        path: keys from the outermost object in.

    Raises:
        InputError: as for `get`.
    """
    parent = _parent(text, path) if text.strip("\ufeff \t\r\n") else None
    member = parent.find(path[-1]) if parent else None
    if parent is None or member is None:
        return text
    place = parent.members.index(member)
    head = text[: member.start].rstrip(" \t\r\n")
    if parent.trailing or place + 1 < len(parent.members):
        return head + text[_skip(text, member.end) + 1 :]
    if place:
        comma = _skip(text, parent.members[place - 1].end)
        return head[:comma] + head[comma + 1 :] + text[member.end :]
    return head + (text[parent.end :] if head.endswith("{") else text[member.end :])


def _parent(text: str, path: tuple[str, ...]) -> _Object | None:
    at = _object(text, _skip(text, 0))
    for key in path[:-1]:
        member = at.find(key)
        if member is None:
            return None
        at = _object(text, member.value)
    return at


def _object(text: str, start: int) -> _Object:
    """Scan the object that begins at a place."""
    if text[start : start + 1] != "{":
        raise InputError(_where(text, start, "an object"))
    members: list[_Member] = []
    comma = True
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if not comma:
            raise InputError(_where(text, at, "a comma or }"))
        name = _STRING.match(text, at)
        if name is None:
            raise InputError(_where(text, at, "a key in quotes"))
        colon = _skip(text, name.end())
        if text[colon : colon + 1] != ":":
            raise InputError(_where(text, colon, "a colon"))
        value = _skip(text, colon + 1)
        end = _end(text, value)
        members.append(_Member(json.loads(name[0]), at, value, end))
        at = _skip(text, end)
        comma = text[at : at + 1] == ","
        at = _skip(text, at + 1) if comma else at
    return _Object(start, at, tuple(members), comma and bool(members))


def _end(text: str, start: int) -> int:
    """Where the value that begins at a place ends."""
    match text[start : start + 1]:
        case "{":
            return _object(text, start).end + 1
        case "[":
            at = _skip(text, start + 1)
            while text[at : at + 1] != "]":
                at = _skip(text, _end(text, at))
                at = _skip(text, at + 1) if text[at : at + 1] == "," else at
            return at + 1
        case '"':
            found = _STRING.match(text, start)
        case _:
            found = _ATOM.match(text, start)
    if found is None:
        raise InputError(_where(text, start, "a value"))
    return found.end()


def _added(text: str, at: _Object, member: str, step: str, depth: int, newline: str) -> str:
    """The text with one more member at an object's end, on a line of its own."""
    lead = newline + step * depth
    if at.members:
        last = at.members[-1].end
        if not at.trailing:
            return f"{text[:last]},{lead}{member}{text[last:]}"
        comma = _skip(text, last) + 1
        return f"{text[:comma]}{lead}{member},{text[comma:]}"
    head = text[: at.end].rstrip(" \t\r\n")
    return f"{head}{lead}{member}{newline}{step * (depth - 1)}{text[at.end :]}"


def _printed(value: Any, step: str, depth: int, newline: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return (newline + step * depth).join(lines)


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _indent(text: str) -> str:
    """What the text indents by: that of its first indented line, else two blanks."""
    found = re.search(r"^([ \t]+)[\"}]", text, re.MULTILINE)
    return found[1] if found else "  "


def _plain(text: str) -> str:
    """Strict JSON of a value: comments and trailing commas taken out, strings left alone."""
    return re.sub(
        r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}])',
        lambda found: found[1] or "",
        text,
        flags=re.DOTALL,
    )


def _skip(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    end = found.end() if found else at
    if end >= len(text):
        raise InputError(_where(text, end, "more: it breaks off"))
    return end


def _where(text: str, at: int, wanted: str) -> str:
    line = text.count("\n", 0, at) + 1
    return f"line {line} is not JSON (it should have {wanted}): put it right by hand, then run this again"
