"""Parses Playwright's accessibility snapshot, a YAML text, into a tree of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STATES = re.compile(r" \[([a-z-]+)(?:=([^\]]*))?\]")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_DEEPEST = 150


@dataclass(frozen=True, slots=True)
class Node:
    """One element of the page, or a run of text (`role` "text", no ref).

    `text` is the node's only text where it has no children; `url` and `placeholder` are the page's own words; `states`
    are such as "checked", "disabled", "level=2". `clickable` says that the pointer becomes a hand over it.
    """

    role: str
    name: str = ""
    text: str = ""
    ref: str | None = None
    states: tuple[str, ...] = ()
    clickable: bool = False
    url: str = ""
    placeholder: str = ""
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """This node and every one beneath it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


@dataclass(slots=True)
class _Open:
    """A node whose children are still being read."""

    depth: int
    role: str
    name: str
    text: str
    ref: str | None
    states: tuple[str, ...]
    clickable: bool
    url: str
    placeholder: str
    children: list[Node]

    def close(self) -> Node:
        return Node(
            self.role, self.name, self.text, self.ref, self.states, self.clickable, self.url, self.placeholder,
            tuple(self.children),
        )  # fmt: skip


def parse(yaml: str) -> Node:
    """Read a snapshot.

    Returns:
        A root of role "page" over everything in it. Lines nested deeper than any real page hang on their last ancestor
        within that depth, so nothing is lost and no walk overflows.
    """
    stack = [_Open(-1, "page", "", "", None, (), False, "", "", [])]
    for line in yaml.split("\n"):
        body = line.lstrip(" ")
        if not body.startswith("- "):
            continue
        depth = (len(line) - len(body)) // 2
        body = body[2:]
        while stack[-1].depth >= depth or (len(stack) > _DEEPEST):
            closed = stack.pop().close()
            stack[-1].children.append(closed)
        parent = stack[-1]
        if body.startswith("text: "):
            parent.children.append(Node("text", text=unquoted(body[6:])))
        elif body.startswith("/url: "):
            parent.url = unquoted(body[6:])
        elif body.startswith("/placeholder: "):
            parent.placeholder = unquoted(body[14:])
        else:
            stack.append(_element(body, depth))
    while len(stack) > 1:
        closed = stack.pop().close()
        stack[-1].children.append(closed)
    return stack[0].close()


def _element(body: str, depth: int) -> _Open:
    key, value = split(body)
    role, _, rest = key.partition(" ")
    name = ""
    if rest.startswith('"'):
        end = _closing_quote(rest)
        name = _unescape(rest[1:end])
        rest = rest[end + 1 :]
    else:
        rest = f" {rest}" if rest else ""
    ref: str | None = None
    clickable = False
    states: list[str] = []
    for state, worth in _STATES.findall(rest):
        if state == "ref":
            ref = worth
        elif state == "cursor":
            clickable = True
        elif state != "active":
            states.append(f"{state}={worth}" if worth else state)
    return _Open(depth, role, name, unquoted(value), ref, tuple(states), clickable, "", "", [])


def split(body: str) -> tuple[str, str]:
    """The key of a line (what stands after its dash) and the value after its colon, as they are written."""
    if body.startswith("'"):
        end = 1
        while True:
            end = body.find("'", end)
            if end < 0:
                return body[1:], ""
            if body[end + 1 : end + 2] != "'":
                return body[1:end].replace("''", "'"), body[end + 2 :].lstrip(" ")
            end += 2
    quote = body.find('"')
    start = _closing_quote(body[quote:]) + quote if 0 <= quote < _colon(body, 0) else 0
    colon = _colon(body, start)
    return body[:colon], body[colon + 1 :].lstrip(" ")


def _colon(body: str, start: int) -> int:
    """Where the key ends: a colon before a space or the end of the line."""
    inside = body.find(": ", start)
    if inside >= 0:
        return inside
    return len(body) - 1 if body.endswith(":") else len(body)


def _closing_quote(text: str) -> int:
    """Where the string that opens at 0 closes."""
    string = _STRING.match(text)
    return string.end() - 1 if string is not None else len(text)


def unquoted(text: str) -> str:
    """The string a value stands for."""
    return _unescape(text[1:-1]) if len(text) >= 2 and text[0] == text[-1] == '"' else text


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        point = int(code[1:], 16)
        return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)
    return _PLAIN.get(code, code)
