"""Writes a page's snapshot, as a browser's accessibility tree spells it, in the form in which a person reads a page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

_STATES = re.compile(r" \[([a-z-]+)(?:=([^\]]*))?\]")
_QUOTED_KEY = re.compile(r"'((?:[^']|'')*+)'?:? *(.*)", re.DOTALL)
_PLAIN_KEY = re.compile(r'((?:[^":]|:(?! |$))*+(?:"(?:[^"\\]|\\.)*+"?)?.*?)(?:: +(.*)|:?$)', re.DOTALL)
"""A line after its dash: the key, and the value after its colon. A colon in the key's first string is no end."""
_ELEMENT = re.compile(r'([^ ]*)(?: "((?:[^"\\]|\\.)*+)"?)?(.*)', re.DOTALL)
"""A key: the role, the name and the marks."""
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_OWN = frozenset({"ref", "cursor", "active"})
"""Marks that are no states."""
_PROPERTIES = frozenset({"url", "placeholder"})
"""The properties of a node that a line below it, with a slash, gives."""
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


def parse(yaml: str) -> Node:
    """Read a snapshot.

    Returns:
        A root of role "page" over everything in it. Lines nested deeper than any real page hang on their last ancestor
        within that depth, so nothing is lost and no walk overflows.
    """
    stack: list[tuple[int, dict[str, Any], list[Node]]] = [(-1, {"role": "page"}, [])]

    def close() -> None:
        """Make a node of the innermost open element, and hang it under the one around it."""
        _, properties, children = stack.pop()
        stack[-1][2].append(Node(**properties, children=tuple(children)))

    for line in yaml.split("\n"):
        body = line.lstrip(" ")
        if not body.startswith("- "):
            continue
        depth = (len(line) - len(body)) // 2
        body = body[2:]
        while stack[-1][0] >= depth:
            close()
        _, properties, children = stack[-1]
        if body.startswith(("text: ", '"')):
            children.append(Node("text", text=unquote(body.removeprefix("text: "))))
        elif body.startswith("/"):
            name, _, value = body[1:].partition(": ")
            if name in _PROPERTIES:
                properties[name] = unquote(value)
        else:
            while len(stack) > _DEEPEST:
                close()
            stack.append((depth, _read_element(body), []))
    while len(stack) > 1:
        close()
    return Node("page", url=stack[0][1].get("url", ""), children=tuple(stack[0][2]))


def _read_element(body: str) -> dict[str, Any]:
    """The properties of a node by its line."""
    key, value = split(body)
    role, name, rest = _ELEMENT.findall(key)[0]
    marks = _STATES.findall(rest)
    states = tuple(f"{mark}={worth}" if worth else mark for mark, worth in marks if mark not in _OWN)
    ref = next((worth for mark, worth in reversed(marks) if mark == "ref"), None)
    clickable = any(mark == "cursor" for mark, _ in marks)
    names = {"role": role, "name": _unescape(name), "text": unquote(value)}
    return {**names, "ref": ref, "states": states, "clickable": clickable}


def split(body: str) -> tuple[str, str]:
    """The key after the dash of a line and the value after its colon, as they are written."""
    quoted = body.startswith("'")
    key, value = (_QUOTED_KEY if quoted else _PLAIN_KEY).findall(body)[0]
    return key.replace("''", "'") if quoted else key, value


def unquote(text: str) -> str:
    """The string of a value, without its quotes."""
    return _unescape(text[1:-1]) if len(text) >= 2 and text[0] == text[-1] == '"' else text


def _unescape(text: str) -> str:
    """A string with its escapes read."""
    return _ESCAPE.sub(_read_escape, text)


def _read_escape(match: re.Match[str]) -> str:
    """The character of one escape."""
    code = match[1]
    if len(code) > 1:
        point = int(code[1:], 16)
        return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)
    return _PLAIN.get(code, code)


_KEY = re.compile(r"/?[a-z]+(?: \"(?:[^\"\\]|\\.)*\")?(?: \[[^\]]*\])*")
"""The part of a node before its colon."""
_REFERENCE = re.compile(r"(?<=\S)\[((?:f\d+)?e\d+)\]")
"""The number after an element, by which an action names it."""
_BARE = re.compile(r" ?(?<!\w)(?:f\d+)?e\d+(?!\w)")
_INLINE = frozenset({
    "text", "link", "button", "strong", "emphasis", "code", "img",
    "superscript", "subscript", "time", "mark", "deletion", "insertion",
})  # fmt: skip
"""Roles that go on in the line of their neighbours."""
_CELLS = frozenset({"cell", "columnheader", "rowheader", "gridcell"})
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})


def reading_form(snapshot: str) -> str | None:
    """The text of a page: headings with `#`, rows of tables with bars, items of lists with a dash, fields with their
    values.

    Returns None for a text that is not a snapshot of a page.
    """
    lines = [line for line in snapshot.splitlines() if line.strip()]
    if not lines or not all(map(_is_node, lines)):
        return None
    return "\n".join(_blocks(parse("\n".join(lines)).children)).strip()


def page_of(text: str, origin: str) -> str | None:
    """The reading form of text from a page; None for any other text."""
    return reading_form(text) if origin == "page" else None


def references_in(shown: str) -> set[str]:
    """The references to elements of a page as it was shown to whoever acts on it."""
    return set(_REFERENCE.findall(shown))


def without_references(shown: str, dead: Collection[str] = ()) -> str:
    """A page, or the outcome of an action, as it was shown, without references to elements; bare ones if they are
    `dead`.
    """
    bare = _REFERENCE.sub("", shown)
    return _BARE.sub(lambda match: "" if match[0].strip() in dead else match[0], bare) if dead else bare


def _is_node(line: str) -> bool:
    """Whether a line is one of a snapshot's."""
    body = line.lstrip(" ")
    return body[:2] == "- " and (body[2:3] == '"' or _KEY.fullmatch(split(body[2:])[0]) is not None)


def _blocks(nodes: Sequence[Node]) -> Iterator[str]:
    """Nodes as lines of text; neighbours that go on in a line are joined."""
    for is_inline, group in groupby(nodes, _is_inline):
        if not is_inline:
            yield from chain.from_iterable(map(_block, group))
        elif words := list(filter(None, map(_inline, group))):
            yield " ".join(words)


def _is_inline(node: Node) -> bool:
    """Whether a node goes on in the line of its neighbours."""
    return node.role in _INLINE and all(child.role in _INLINE for child in node.children)


def _block(node: Node) -> Iterator[str]:
    """The lines of one element that begins a line of its own."""
    match node.role:
        case "heading":
            level = next((state[6:] for state in node.states if re.fullmatch(r"level=\d", state)), 2)
            yield f"{'#' * int(level)} {_inline(node)}"
        case "row":
            cells = [_inline(child) for child in node.children if child.role in _CELLS]
            yield " | ".join(cells) or node.name
        case "listitem" | "option" | "menuitem" | "treeitem" | "tab":
            lines = [*([node.text] if node.text else []), *_blocks(node.children)] or [node.name]
            yield f"- {lines[0]}"
            yield from (f"  {line}" for line in lines[1:])
        case role if role in _CHECKED:
            checked = any(state.startswith("checked") for state in node.states)
            yield f"[{'x' if checked else ' '}] {_inline(node)}"
        case _:
            lines = list(_blocks(node.children))
            if node.name and (node.text or not lines):
                yield f"{node.name}: {node.text}" if node.text else node.name
            elif node.text:
                yield node.text
            yield from lines


def _inline(node: Node) -> str:
    """All the text of a node on one line."""
    inner = " ".join(filter(None, map(_inline, node.children)))
    own = node.text or ("" if inner and node.role in _CELLS else node.name)
    return " ".join(filter(None, (own, inner if inner != node.name else ""))) or node.name
