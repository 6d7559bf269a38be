"""Writes a page's snapshot, as a browser's accessibility tree spells it, in the form in which a person reads a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["page_of", "reading_form", "without_references"]

_ITEM = re.compile(r"( *)- (.*)")
_NODE = re.compile(r"(/?[a-z]+)(?: (\"(?:[^\"\\]|\\.)*\"))?((?: \[[^\]]*\])*)(?::(?: (.*))?)?$")
_REFERENCE = re.compile(r"(?<=\S)\[(?:f\d+)?e\d+\]")
"""The number by which an action names an element of the page that is shown, behind the element."""
_LEVEL = re.compile(r"\[level=(\d)\]")
_INLINE = frozenset(
    {
        "text",
        "link",
        "button",
        "strong",
        "emphasis",
        "code",
        "img",
        "superscript",
        "subscript",
        "time",
        "mark",
        "deletion",
        "insertion",
    }
)
"""Roles that go on in the line of their neighbours."""
_CELLS = frozenset({"cell", "columnheader", "rowheader", "gridcell"})
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})


@dataclass(frozen=True, slots=True)
class _Node:
    role: str
    name: str
    marks: str
    value: str
    children: list[_Node] = field(default_factory=list)


def reading_form(snapshot: str) -> str | None:
    """The text of a page: headings with `#`, a row of a table as its cells between bars, an item of a list behind a dash, a field with its value.

    Args:
        snapshot: the page as the log has it.

    Returns:
        None for a text that is no snapshot of a page.
    """
    roots = _tree(snapshot)
    return None if roots is None else "\n".join(_blocks(roots)).strip()


def page_of(text: str, origin: str) -> str | None:
    """The reading form of what a page gave; None for anything else."""
    return reading_form(text) if origin == "page" else None


def without_references(shown: str) -> str:
    """A page as it was shown to whoever acts on it, without the references to its elements."""
    return _REFERENCE.sub("", shown)


def _tree(snapshot: str) -> list[_Node] | None:
    roots: list[_Node] = []
    open_: list[tuple[int, list[_Node]]] = [(-1, roots)]
    for line in snapshot.splitlines():
        if not line.strip():
            continue
        item = _ITEM.fullmatch(line)
        node = None if item is None else _node(item[2])
        if item is None or node is None:
            return None
        depth = len(item[1])
        while open_[-1][0] >= depth:
            open_.pop()
        open_[-1][1].append(node)
        open_.append((depth, node.children))
    return roots or None


def _node(text: str) -> _Node | None:
    """One node as its line spells it; None where the line is none of a snapshot's."""
    if text[:1] == "'":
        key, _, rest = text[1:].replace("''", "\0").partition("'")
        text = key.replace("\0", "'") + rest.replace("\0", "'")
    elif text[:1] == '"':
        return _Node("text", "", "", _unquoted(text))
    found = _NODE.fullmatch(text)
    if found is None:
        return None
    role, name, marks, value = found.groups()
    return _Node(role, _unquoted(name or ""), marks, _unquoted(value or ""))


def _unquoted(text: str) -> str:
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


def _blocks(nodes: Sequence[_Node]) -> Iterator[str]:
    """Nodes as lines of text, what goes on in a line joined."""
    running: list[str] = []
    for node in nodes:
        if node.role in _INLINE and not any(
            child.role not in _INLINE and child.role[0] != "/" for child in node.children
        ):
            running += filter(None, [_inline(node)])
            continue
        if running:
            yield " ".join(running)
            running = []
        yield from _block(node)
    if running:
        yield " ".join(running)


def _block(node: _Node) -> Iterator[str]:
    match node.role:
        case "heading":
            level = _LEVEL.search(node.marks)
            yield f"{'#' * int(level[1] if level else 2)} {_inline(node)}"
        case "row":
            cells = [_inline(child) for child in node.children if child.role in _CELLS]
            yield " | ".join(cells) or node.name
        case "listitem" | "option" | "menuitem" | "treeitem" | "tab":
            lines = [*([node.value] if node.value else []), *_blocks(node.children)] or [node.name]
            yield f"- {lines[0]}"
            yield from (f"  {line}" for line in lines[1:])
        case role if role in _CHECKED:
            yield f"[{'x' if '[checked' in node.marks else ' '}] {_inline(node)}"
        case role if role[0] == "/":
            return
        case _:
            lines = list(_blocks(node.children))
            if node.name and (node.value or not lines):
                yield f"{node.name}: {node.value}" if node.value else node.name
            elif node.value:
                yield node.value
            yield from lines


def _inline(node: _Node) -> str:
    """All the text of a node on one line."""
    inner = " ".join(filter(None, (_inline(child) for child in node.children if child.role[0] != "/")))
    return (
        " ".join(
            filter(
                None,
                (
                    node.value or ("" if inner and node.role in _CELLS else node.name),
                    inner if inner != node.name else "",
                ),
            )
        )
        or node.name
    )
