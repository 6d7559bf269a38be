"""Writes a page's snapshot, as a browser's accessibility tree spells it, in the form in which a person reads a page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ctxfold.log.snapshot import Node, parse, split

__all__ = ["page_of", "reading_form", "references_in", "without_references"]

_KEY = re.compile(r"/?[a-z]+(?: \"(?:[^\"\\]|\\.)*\")?(?: \[[^\]]*\])*")
"""What stands of a node before its colon."""
_REFERENCE = re.compile(r"(?<=\S)\[((?:f\d+)?e\d+)\]")
"""The number by which an action names an element of the page that is shown, behind the element."""
_BARE = re.compile(r" ?(?<!\w)(?:f\d+)?e\d+(?!\w)")
_INLINE = frozenset({
    "text", "link", "button", "strong", "emphasis", "code", "img", "superscript", "subscript", "time", "mark", "deletion", "insertion",
})  # fmt: skip
"""Roles that go on in the line of their neighbours."""
_CELLS = frozenset({"cell", "columnheader", "rowheader", "gridcell"})
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})


def reading_form(snapshot: str) -> str | None:
    """The text of a page: headings with `#`, a row of a table as its cells between bars, an item of a list behind a dash, a field with its value.

    None for a text that is no snapshot of a page.
    """
    lines = [line for line in snapshot.splitlines() if line.strip()]
    if not lines or not all(map(_is_node, lines)):
        return None
    return "\n".join(_blocks(parse("\n".join(lines)).children)).strip()


def page_of(text: str, origin: str) -> str | None:
    """The reading form of what a page gave; None for anything else."""
    return reading_form(text) if origin == "page" else None


def references_in(shown: str) -> set[str]:
    """The references to elements of a page as it was shown to whoever acts on it."""
    return set(_REFERENCE.findall(shown))


def without_references(shown: str, dead: Collection[str] = ()) -> str:
    """A page as it was shown to whoever acts on it, or what came of an action, without the references to elements; bare ones where they are `dead`."""
    bare = _REFERENCE.sub("", shown)
    return _BARE.sub(lambda found: "" if found[0].strip() in dead else found[0], bare) if dead else bare


def _is_node(line: str) -> bool:
    """Whether a line is one of a snapshot's."""
    body = line.lstrip(" ")
    return body[:2] == "- " and (body[2:3] == '"' or _KEY.fullmatch(split(body[2:])[0]) is not None)


def _blocks(nodes: Sequence[Node]) -> Iterator[str]:
    """Nodes as lines of text, what goes on in a line joined."""
    running: list[str] = []
    for node in nodes:
        if node.role in _INLINE and all(child.role in _INLINE for child in node.children):
            running += filter(None, [_inline(node)])
            continue
        if running:
            yield " ".join(running)
            running = []
        yield from _block(node)
    if running:
        yield " ".join(running)


def _block(node: Node) -> Iterator[str]:
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
