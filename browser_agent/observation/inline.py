"""Writes nodes of a page as one line of text, with the ref of each control."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urljoin

from ctxfold.log.page import Node
from ctxfold.text.words import words

_SPACE = re.compile(r"\s+")
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that do not show: control marks, joiners, marks of direction, tags."""

REF = re.compile(r"\[((?:f\d+)?e\d+)\]")
_TORN_REF = re.compile(r"\[(?:f?\d*)?e?\d*$")


def clean(text: str) -> str:
    """`text` in one line, without characters that do not show, and with `[e12]` turned into `(e12)`."""
    if not text:
        return ""
    if not (text.isascii() and text.isprintable() and "  " not in text):  # most text is plain already
        text = _SPACE.sub(" ", UNSEEN.sub("", text))
    text = text.strip()
    return REF.sub(r"(\1)", text) if "[" in text else text


def cut(text: str, most: int) -> str:
    """`text`, at most `most` characters of it, ended by an ellipsis where it was longer."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """The words of `text` as they are compared, each once."""
    return frozenset(words(text))


def first_mention(text: str, wanted: frozenset[str]) -> int:
    """Return the place of the rarest of some words in `text`; 0 if it has none."""
    lower = text.lower()
    found = [(lower.count(word), -len(word), word) for word in wanted if word in lower]
    return lower.find(min(found)[2]) if found else 0


def trim_torn_ref(text: str) -> str:
    """`text` without a ref torn at its end."""
    return _TORN_REF.sub("", text).rstrip()


def resolve_url(base: str, url: str) -> str:
    """`url` as an absolute address; empty for none."""
    try:
        return urljoin(base, url) if url else ""
    except ValueError:  # such as a bracket that opens no address
        return url


FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "slider", "combobox", "listbox"})
INTERACTIVE = FIELDS | {
    "button", "checkbox", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "tab",
    "treeitem",
}  # fmt: skip
"""Roles that can be acted on. A node of any other role can be too, if the pointer becomes a hand over it."""

INLINE = INTERACTIVE | {
    "code", "deletion", "emphasis", "generic", "img", "image", "insertion", "mark", "strong", "subscript",
    "superscript", "text", "time", "meter", "progressbar", "math",
}  # fmt: skip
"""Roles that may share a line with their neighbours."""

AROUND = frozenset({"navigation", "banner", "contentinfo", "complementary", "search"})
"""Regions around a page's main part."""

AREAS = frozenset(
    {"region", "tabpanel", "table", "grid", "list", "listbox", "article", "form", "group", "dialog", "figure"}
)
"""Roles of what holds a part of a page."""

_HOLDERS = INLINE | {"paragraph", "term", "listitem", "cell", "gridcell", "columnheader", "rowheader", "definition", "caption",
                     "heading", "blockquote", "bar", "list", "row"}  # fmt: skip
_LABELLED = FIELDS | {"checkbox", "radio", "switch"}
_LABELS = frozenset({"text", "generic", "strong"})
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_SHOWN_STATES = frozenset({"checked", "disabled", "expanded", "pressed", "selected", "invalid", "read-only", "unseen"})
_WORDS = re.compile(r"\w")
_NAME = 160
_UNSEEN_NAME = 40
_OPTIONS = 12


def is_actionable(node: Node) -> bool:
    """Whether `node` can be acted on by its ref."""
    return node.ref is not None and (node.role in INTERACTIVE or node.clickable)


def is_inline(node: Node) -> bool:
    """Return whether everything in `node` fits one line."""
    if node.role not in _HOLDERS:
        return False
    return all(inner.role in INLINE for child in node.children for inner in child.walk())


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line of words; `refs` are all the refs in it, of which so many are links, so many fields, buttons and the
    like.
    """

    text: str
    refs: tuple[str, ...]
    links: int
    controls: int


@dataclass(slots=True)
class _Pen:
    refs: list[str] = field(default_factory=list)
    links: int = 0
    controls: int = 0
    marks: bool = True

    def mark(self, node: Node) -> str:
        if not self.marks or not is_actionable(node) or node.ref is None:
            return ""
        self.refs.append(node.ref)
        self.links += node.role == "link"
        self.controls += node.role != "link" and node.role in INTERACTIVE
        return f"[{node.ref}]"


def render(nodes: Sequence[Node], *, refs: bool = True) -> PageLine:
    """The words of `nodes` in one line."""
    pen = _Pen(marks=refs)
    parts = [part for part in (_render(node, pen) for node in _unlabelled(nodes)) if part]
    words = _joined(parts)
    return PageLine(words if _WORDS.search(words) else "", tuple(pen.refs), pen.links, pen.controls)


def label(node: Node) -> str:
    """What `node` is called: its name, else the words in it."""
    name = clean(node.name) or " ".join(_texts(node))
    return cut(name, _UNSEEN_NAME if "unseen" in node.states else _NAME)


def _texts(node: Node) -> Iterator[str]:
    for inner in node.walk():
        if inner.text and inner.role not in FIELDS:
            yield clean(inner.text)
        elif inner is not node and inner.name and not inner.children:
            yield clean(inner.name)


def _render(node: Node, pen: _Pen) -> str:
    match node.role:
        case "text":
            return clean(node.text)
        case "link":
            return _link(node, pen)
        case "img" | "image":
            return f"(image: {label(node)}){pen.mark(node)}" if node.name else pen.mark(node) or _inside(node, pen)
        case "row":
            return _own(
                node,
                pen,
                " | ".join(_inside(cell, pen) or clean(cell.name) for cell in node.children) or clean(node.text),
            )
        case "bar" | "list":
            return " · ".join(part for part in (_render(child, pen) for child in node.children) if part)
        case "iframe":
            return f"frame[{node.ref}]" if node.ref and pen.marks else "frame"
        case "separator":
            return _own(node, pen, "")
        case role if role in FIELDS:
            return _field(node, pen)
        case role if role in INTERACTIVE:
            return _control(node, pen)
        case _:
            inside = _inside(node, pen)
            return _own(node, pen, inside if REF.sub("", inside).strip() else f"{clean(node.name)}{inside}")


def _inside(node: Node, pen: _Pen) -> str:
    parts = [clean(node.text)] if node.text else []
    if node.role in _CELLS and is_actionable(node):
        parts.insert(0, pen.mark(node))
    parts.extend(_render(child, pen) for child in _unlabelled(node.children))
    return _joined(parts)


def _unlabelled(nodes: Sequence[Node]) -> list[Node]:
    """`nodes` without the labels of fields that stand among them, as a field says its name itself, and without pictures
    whose name another says.
    """
    nodes = _without_pictures(nodes)
    names = {
        _as_label(part.name)
        for node in nodes
        for part in (node, *node.children)
        if part.role in _LABELLED and part.name
    }
    if not names:
        return list(nodes)
    return [
        node
        for node in nodes
        if not (
            node.role in _LABELS
            and _as_label(" ".join(_texts(node))) in names
            and not any(map(is_actionable, node.walk()))
        )
    ]


def _without_pictures(nodes: Sequence[Node]) -> Sequence[Node]:
    pictures = [node for node in nodes if node.role in {"img", "image"} and node.name and not is_actionable(node)]
    if not pictures:
        return nodes
    said = {label(node) for node in nodes if node not in pictures}
    return [node for node in nodes if node not in pictures or label(node) not in said]


def _as_label(name: str) -> str:
    return clean(name).strip(" :*").lower()


def _joined(parts: Sequence[str]) -> str:
    """`parts` as running text: a mark that opens a part, such as a comma, goes on the word before it."""
    line = ""
    for part in parts:
        if line and part:
            line += part if part[0] in ",.;:)" and part[1:2] in {"", " "} else f" {part}"
        else:
            line += part
    return line


def _own(node: Node, pen: _Pen, words: str) -> str:
    """`words`, after the ref of the node that holds them if it can be acted on."""
    mark = pen.mark(node)
    states = _states(node)
    return f"{mark}{words}{states}" if mark else words


def _link(node: Node, pen: _Pen) -> str:
    words = label(node) or (cut(clean(node.url), 60) and f"({cut(clean(node.url), 60)})") or "(link)"
    return " ".join([f"{words}{pen.mark(node)}{_states(node)}", *_inner_controls(node, pen)])


def _inner_controls(node: Node, pen: _Pen) -> Iterator[str]:
    """The outermost controls within `node`, where its words were written already."""
    stack = list(reversed(node.children))
    while stack:
        inner = stack.pop()
        if not is_actionable(inner):
            stack.extend(reversed(inner.children))
        elif text := _render(inner, pen):
            yield text


def _control(node: Node, pen: _Pen) -> str:
    name = label(node)
    quoted = f' "{name}"' if name else ""
    return " ".join([f"{node.role}{quoted}{pen.mark(node)}{_states(node)}", *_inner_controls(node, pen)])


def _field(node: Node, pen: _Pen) -> str:
    name = clean(node.name) or clean(node.placeholder)
    quoted = f' "{cut(name, _NAME)}"' if name else ""
    options = [inner for child in node.children for inner in child.walk() if inner.role == "option"]
    said = f"{node.role}{quoted}{pen.mark(node)}{_states(node)}"
    if options:
        return f"{said} {_choices(options, pen)}"
    value = " ".join(clean(part.text) for part in (node, *node.children) if part is node or part.role == "text").strip()
    return " ".join([f'{said}="{value}"' if value else said, *_inner_controls(node, pen)])


def _choices(options: Sequence[Node], pen: _Pen) -> str:
    """The options of a list: the chosen one, and the first of the others; those with a ref are all named."""
    if any(option.ref for option in options):
        return " ".join(_control(option, pen) for option in options)
    chosen = [label(option) for option in options if "selected" in option.states]
    names = [label(option) for option in options[:_OPTIONS]]
    more = f" | +{len(options) - _OPTIONS}" if len(options) > _OPTIONS else ""
    return f'="{", ".join(chosen)}" of ({" | ".join(names)}{more})'


def _states(node: Node) -> str:
    shown = [state for state in node.states if state.partition("=")[0] in _SHOWN_STATES]
    return f" ({', '.join(shown)})" if shown else ""
