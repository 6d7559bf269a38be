"""Splits a page's snapshot into blocks: one line of text each, with the refs of the controls in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import NamedTuple

from browser_agent.observation import PageSection
from browser_agent.observation.inline import INLINE, INTERACTIVE, REF, clean, is_actionable, is_inline, render
from ctxfold.log.page import Node

_REGIONS = {
    "banner": "header", "navigation": "nav", "contentinfo": "footer", "complementary": "aside", "main": "main",
    "search": "search", "dialog": "dialog", "alertdialog": "dialog", "alert": "dialog", "status": "dialog",
}  # fmt: skip
_ITEMS = frozenset({"listitem", "treeitem", "menuitem", "option", "article", "tab"})
_BARS = frozenset({"menubar", "menu", "tablist", "toolbar", "radiogroup", "listbox", "tree", "group"})
_BRIEF = frozenset({"nav", "header", "footer"})
_WORDS = INLINE - {"generic"}
_SHORT_LIST = 240
_BAR = 16
_LOOSE = 6
_TERM = 7
_STACK = 3
_ALIKE = 6


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one table or the items of one list. `ref` addresses the whole."""

    id: int
    kind: str
    ref: str | None


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of the page in one line (code keeps its words, not its lines: the snapshot has none).

    Attributes:
        region: the landmark it is in.
        section: the heading above it.
        level: 1 to 6 for a heading, 7 for a defined term, else 0.
        row: its place in `group`.
        refs: every ref in `text`; `links` of them are links, `controls` are fields, buttons and the like.
        owner: the place of the block it belongs to: the entry it is nested in, else the term it defines.
        ref: the element it was made of.
    """

    text: str
    refs: tuple[str, ...]
    links: int
    controls: int
    region: str
    group: Group | None
    indent: int
    owner: int | None
    section: str
    level: int
    row: int
    ref: str | None
    head: bool


class _Place(NamedTuple):
    """The part of the page that a node is in."""

    region: str = "body"
    group: Group | None = None
    indent: int = 0
    owner: int | None = None


@dataclass(slots=True)
class _Writer:
    """Collects blocks in document order."""

    blocks: list[Block] = field(default_factory=list)
    section: str = ""
    term: int | None = None
    groups: int = 0
    rows: Counter[int] = field(default_factory=Counter)

    def add(self, nodes: Sequence[Node], place: _Place, ref: str | None, prefix: str = "", level: int = 0) -> None:
        """Add the line of some nodes as a block."""
        line = render(nodes)
        if not line.text:
            return
        if level:
            self.term = len(self.blocks) if level == _TERM else None
            self.section = line.text if not line.refs else render(nodes, refs=False).text
        cells = nodes[0].children if nodes[0].role == "row" else ()
        is_head = bool(cells) and all(cell.role == "columnheader" for cell in cells)
        group = place.group.id if place.group is not None else 0
        owner = self.term if place.owner is None and not level else place.owner
        where = (*place._replace(owner=owner), self.section, level, self.rows[group], ref, is_head)
        self.blocks.append(Block(prefix + line.text, line.refs, line.links, line.controls, *where))
        self.rows[group] += 1

    def group(self, node: Node, kind: str) -> Group:
        self.groups += 1
        return Group(self.groups, kind, node.ref)


def blocks(root: Node) -> tuple[Block, ...]:
    """Every block beneath `root`, in document order."""
    writer = _Writer()
    _flow(writer, (root,), _Place())
    written = {ref for block in writer.blocks for ref in block.refs}
    missed = [_bare(node) for node in root.walk() if is_actionable(node) and node.ref not in written]
    for start in range(0, len(missed), _LOOSE):  # such as a whole table that can be clicked
        writer.add(missed[start : start + _LOOSE], _Place(), None)
    return tuple(writer.blocks)


def blocks_under(blocks: Sequence[Block], ref: str | None) -> tuple[Block, ...]:
    """Return the heading that `ref` addresses and the text under it, up to the next of its level; nothing if `ref` is
    not of a heading.
    """
    start = next((at for at, block in enumerate(blocks) if block.level and block.ref == ref), None)
    if start is None:
        return ()
    head = blocks[start]

    def is_under(block: Block) -> bool:
        return block.region == head.region and not 0 < block.level <= head.level

    return (head, *takewhile(is_under, blocks[start + 1 :]))


def _bare(node: Node) -> Node:
    """`node` by itself, to be named in a line."""
    return replace(node, children=(), role=node.role if node.role in INTERACTIVE else "generic", clickable=True)


def _flow(writer: _Writer, nodes: Sequence[Node], place: _Place, ref: str | None = None) -> None:
    """Write `nodes`, joining neighbours that belong in one line. `ref` addresses what holds them."""
    boxes = _are_boxes(nodes)

    def is_word(node: Node) -> bool:
        """Return whether a node may share a line with its neighbours."""
        return node.role in INLINE and not (boxes and node.role == "generic") and _one_line(node)

    for are_words, run in groupby(nodes, key=is_word):
        if are_words:
            line = list(run)
            writer.add(line, place, line[0].ref if len(line) == 1 else ref)
        else:
            for node in run:
                _block(writer, node, place)


def _are_boxes(nodes: Sequence[Node]) -> bool:
    """Return whether the plain elements among `nodes` are boxes: there are several, and no text runs between them."""
    return sum(node.role == "generic" for node in nodes) > 1 and not any(node.role == "text" for node in nodes)


def _one_line(node: Node) -> bool:
    """Return whether `node` fits one line: nothing in it breaks lines, and it is not a stack of boxes with controls."""
    if not is_inline(node):
        return False
    if node.role != "generic" or sum(is_actionable(inner) for inner in node.walk()) < _STACK:
        return True
    return not any(inner.role == "generic" and _are_boxes(inner.children) for inner in node.walk())


def _block(writer: _Writer, node: Node, place: _Place) -> None:
    """Write one node by its role: a region, heading, table, list, item, term, frame, line, or a node
    that holds others.
    """
    region = _REGIONS.get(node.role)
    if region is not None:
        text = [Node("text", text=node.text)] if node.text else []
        _flow(writer, [*node.children, *text], _Place(region), node.ref)
    elif node.role == "heading":
        level = next((int(s[6:]) for s in node.states if s.startswith("level=") and s[6:].isdigit()), 2)
        writer.add([node], place._replace(group=None), node.ref, "#" * min(level, 6) + " ", level)
    elif node.role in {"table", "grid", "treegrid"}:
        _table(writer, node, place)
    elif node.role == "list":
        _list(writer, node, place)
    elif node.role in _ITEMS:
        _item(writer, node, place)
    elif node.role == "term":
        writer.add([node], place, node.ref, level=_TERM)
    elif node.role == "iframe":
        writer.add([replace(node, children=())], place, node.ref)
        _flow(writer, node.children, place)
    elif node.role == "row" or _one_line(node):
        writer.add([node], place, node.ref)
    else:
        _container(writer, node, place)


def _container(writer: _Writer, node: Node, place: _Place) -> None:
    """Write a node that only holds others: first its own words, then theirs."""
    bare = replace(node, children=())
    if node.clickable or node.role in _BARS or node.name:
        writer.add([bare], place, node.ref)
    rows = [child.role for child in node.children]
    alike = len(rows) >= _ALIKE and len(set(rows)) == 1 and place.group is None and rows[0] not in _WORDS
    inside = place._replace(group=writer.group(node, "item")) if alike and _same_shape(node) else place
    if node.text:
        writer.add([Node("text", text=node.text)], place, None)
    _flow(writer, node.children, inside, node.ref)


def _same_shape(node: Node) -> bool:
    """Return whether most children are built alike: then they are rows of one kind."""
    shapes = [tuple(grandchild.role for grandchild in child.children) for child in node.children]
    return max(shapes.count(shape) for shape in set(shapes)) * 3 >= len(shapes) * 2


def _table(writer: _Writer, node: Node, place: _Place) -> None:
    """Write a table: its name or caption, then each row in a line."""
    inside = place._replace(group=writer.group(node, "row"))
    captions = [child for child in node.children if child.role == "caption"]
    for title in [replace(node, children=(), ref=None)] if node.name else captions:
        writer.add([title], place, None)
    _flow(writer, [child for child in node.children if child.role != "caption"], inside)


def _list(writer: _Writer, node: Node, place: _Place) -> None:
    """Write a list: short items share a line, others have one each."""
    brief = place.region in _BRIEF or (
        all(is_inline(item) for item in node.children) and len(render(node.children).text) <= _SHORT_LIST
    )
    inside = place if brief else place._replace(group=writer.group(node, "item"))
    for is_short, run in groupby(node.children, key=lambda child: brief and is_inline(child)):
        if is_short:
            _bar(writer, list(run), place, node.ref)
        else:
            for child in run:
                _block(writer, child, inside)


def _bar(writer: _Writer, items: list[Node], place: _Place, ref: str | None) -> None:
    """Short items in one line, a few of them in each."""
    for start in range(0, len(items), _BAR):
        bar = Node("bar", children=tuple(items[start : start + _BAR]))
        writer.add([bar], place, ref, "- " if place.region not in _BRIEF else "")


def _item(writer: _Writer, node: Node, place: _Place) -> None:
    """Write an item: its own words in one line, then the nodes nested in it."""
    lead = tuple(takewhile(is_inline, node.children))
    own = len(writer.blocks)
    writer.add([replace(node, children=lead)], place, node.ref, "- ")
    owner = own if len(writer.blocks) > own else place.owner
    _flow(writer, node.children[len(lead) :], place._replace(indent=place.indent + 1, owner=owner), node.ref)


# A snapshot has each piece of a line apart, and not whether a space is between them: `queue.` and `Empty` are one name.
# The document's own lines have the spaces.


def respace(blocks: Sequence[Block], sections: Iterable[PageSection]) -> tuple[Block, ...]:
    """Return blocks with the spaces of the document's lines, where a line has the same letters and the same numbers."""
    texts = (text for section in sections for text in (section.title, section.text))
    lines = {_squash(line): line for text in texts for line in map(clean, text.split("\n")) if len(line) > 1}
    return tuple(
        replace(block, text=_respace_text(block.text, lines), section=_respace_text(block.section, lines))
        for block in blocks
    )


def _respace_text(text: str, lines: Mapping[str, str]) -> str:
    """Return a text with the spaces of the line that has its letters and numbers, or as it is."""
    lead = len(text) - len(text.lstrip("#- "))
    parts = REF.split(text[lead:])
    plain = "".join(parts[::2])
    line = lines.get(_squash(plain))
    if line is None or _NUMBER.findall(line) != _NUMBER.findall(plain):
        return text
    if len(parts) == 1:
        return text[:lead] + line
    end = 0
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = f"[{part}]"
        elif letters := re.compile(rf"(?:\s*\S){{{len(_squash(part))}}}").match(line, end):
            parts[place], end = letters[0], letters.end()
    return text[:lead] + "".join(parts)


_NUMBER = re.compile(r"\d+")


def _squash(text: str) -> str:
    return "".join(text.split())
