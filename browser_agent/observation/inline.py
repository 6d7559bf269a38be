"""Writes nodes of a page as one line of text, with the ref of each control."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urljoin

from ctxfold.log.page import Node
from ctxfold.text.words import words

_SPACE = re.compile(r"\s+")
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that do not show: control marks, joiners, marks of direction, tags."""

REF = re.compile(r"\[((?:f\d+)?e\d+)\]")
_TORN_REF = re.compile(r"\[(?:f?\d*)?e?\d*$")


def clean(text: str) -> str:
    """Return `text` in one line, without characters that do not show, and with `[e12]` turned into `(e12)`."""
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
    """Return the words of `text` as they are compared, each once."""
    return frozenset(words(text))


def first_mention(text: str, wanted: frozenset[str]) -> int:
    """Return the place of the rarest of some words in `text`; 0 if it has none."""
    lower = text.lower()
    counts = [(lower.count(word), -len(word), word) for word in wanted if word in lower]
    return lower.find(min(counts)[2]) if counts else 0


def trim_torn_ref(text: str) -> str:
    """Return `text` without a ref torn at its end."""
    return _TORN_REF.sub("", text).rstrip()


def resolve_url(base: str, url: str) -> str:
    """`url` as an absolute address; empty for none."""
    with suppress(ValueError):  # such as a bracket that opens no address
        return urljoin(base, url) if url else ""
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

_HOLDERS = INLINE | {
    "paragraph", "term", "listitem", "cell", "gridcell", "columnheader", "rowheader", "definition",
    "caption", "heading", "blockquote", "bar", "list", "row",
}  # fmt: skip
_LABELLED = FIELDS | {"checkbox", "radio", "switch"}
_LABELS = frozenset({"text", "generic", "strong"})
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_SHOWN_STATES = frozenset({"checked", "disabled", "expanded", "pressed", "selected", "invalid", "read-only", "unseen"})
_WORDS = re.compile(r"\w")
_NAME, _UNSEEN_NAME, _URL = 160, 40, 60
"""Characters of a name, of the name of an unseen control, and of an address without a name."""
_OPTIONS = 12
"""Options of a list that are shown."""


def is_actionable(node: Node) -> bool:
    """Return whether `node` can be acted on by its ref."""
    return node.ref is not None and (node.role in INTERACTIVE or node.clickable)


def is_inline(node: Node) -> bool:
    """Return whether everything in `node` fits one line."""
    if node.role not in _HOLDERS:
        return False
    return all(inner.role in INLINE for child in node.children for inner in child.walk())


class PageLine(NamedTuple):
    """One line of words.

    Attributes:
        text: the words.
        refs: all refs in it; `links` of them are links, `controls` are fields, buttons and the like.
    """

    text: str = ""
    refs: tuple[str, ...] = ()
    links: int = 0
    controls: int = 0


def render(nodes: Sequence[Node], *, refs: bool = True) -> PageLine:
    """Write the words of nodes in one line; with `refs`, the ref of each control after its name."""
    writer = _LineWriter(refs)
    text = writer.write_all(nodes)
    return PageLine(text if _WORDS.search(text) else "", tuple(writer.refs), writer.links, writer.controls)


def label(node: Node) -> str:
    """Return the name of a node, else the words in it."""
    name = clean(node.name) or " ".join(_find_texts(node))
    return cut(name, _UNSEEN_NAME if "unseen" in node.states else _NAME)


def _find_texts(node: Node) -> Iterator[str]:
    """Return the words in a node: its texts, and the names of its empty elements."""
    for inner in node.walk():
        if inner.text and inner.role not in FIELDS:
            yield clean(inner.text)
        elif inner is not node and inner.name and not inner.children:
            yield clean(inner.name)


class _LineWriter:
    """Writes nodes as words, and notes the refs that it writes."""

    def __init__(self, refs: bool) -> None:
        self._with_refs = refs
        self.refs: list[str] = []
        self.links = self.controls = 0

    def write_all(self, nodes: Sequence[Node]) -> str:
        """Write nodes as running text. A comma and the like goes on the word before it."""
        line = ""
        for part in filter(None, map(self._write, _drop_labels(nodes))):
            is_joined = not line or (part[0] in ",.;:)" and part[1:2] in {"", " "})
            line += part if is_joined else f" {part}"
        return line

    def _write(self, node: Node) -> str:
        """Write one node by its role, with its ref if it can be acted on."""
        match node.role:
            case "text":
                return clean(node.text)
            case "link":
                url = cut(clean(node.url), _URL)
                words = label(node) or (f"({url})" if url else "(link)")
                return self._with_inner_controls(f"{words}{self._mark(node)}{_states(node)}", node)
            case "img" | "image":
                mark = self._mark(node)
                return f"(image: {label(node)}){mark}" if node.name else mark or self._inside(node)
            case "row":
                cells = (self._inside(cell) or clean(cell.name) for cell in node.children)
                return self._add_mark(node, " | ".join(cells) or clean(node.text))
            case "bar" | "list":
                return " · ".join(filter(None, map(self._write, node.children)))
            case "iframe":
                return f"frame[{node.ref}]" if node.ref and self._with_refs else "frame"
            case "separator":
                return self._add_mark(node, "")
            case role if role in INTERACTIVE:
                return self._write_field(node) if role in FIELDS else self._write_control(node)
            case _:
                inside = self._inside(node)
                return self._add_mark(node, inside if REF.sub("", inside).strip() else f"{clean(node.name)}{inside}")

    def _mark(self, node: Node) -> str:
        """Return the ref of a node in brackets and note it; empty if it cannot be acted on."""
        if not self._with_refs or not is_actionable(node) or node.ref is None:
            return ""
        self.refs.append(node.ref)
        self.links += node.role == "link"
        self.controls += node.role != "link" and node.role in INTERACTIVE
        return f"[{node.ref}]"

    def _add_mark(self, node: Node, words: str) -> str:
        mark = self._mark(node)
        return f"{mark}{words}{_states(node)}" if mark else words

    def _inside(self, node: Node) -> str:
        mark = self._mark(node) if node.role in _CELLS and is_actionable(node) else ""
        own = [Node("text", text=node.text)] if node.text else []
        return " ".join(filter(None, (mark, self.write_all([*own, *node.children]))))

    def _with_inner_controls(self, words: str, node: Node) -> str:
        """Add the outermost controls in a node of which the words are written already."""
        parts, stack = [words], list(reversed(node.children))
        while stack:
            inner = stack.pop()
            if not is_actionable(inner):
                stack.extend(reversed(inner.children))
            elif text := self._write(inner):
                parts.append(text)
        return " ".join(parts)

    def _write_control(self, node: Node) -> str:
        name = label(node)
        words = f'{node.role} "{name}"' if name else node.role
        return self._with_inner_controls(f"{words}{self._mark(node)}{_states(node)}", node)

    def _write_field(self, node: Node) -> str:
        """Write a field with its name, its options or its value, and the controls in it."""
        name = cut(clean(node.name) or clean(node.placeholder), _NAME)
        words = f'{node.role} "{name}"' if name else node.role
        words += f"{self._mark(node)}{_states(node)}"
        options = [inner for child in node.children for inner in child.walk() if inner.role == "option"]
        if any(option.ref for option in options):
            return f"{words} {' '.join(map(self._write_control, options))}"
        if options:
            chosen = ", ".join(label(option) for option in options if "selected" in option.states)
            names = " | ".join(map(label, options[:_OPTIONS]))
            more = f" | +{len(options) - _OPTIONS}" if len(options) > _OPTIONS else ""
            return f'{words} ="{chosen}" of ({names}{more})'
        texts = [clean(part.text) for part in (node, *node.children) if part is node or part.role == "text"]
        value = " ".join(texts).strip()
        return self._with_inner_controls(f'{words}="{value}"' if value else words, node)


def _drop_labels(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return nodes without the labels of fields among them, and without pictures that have the name of another node."""
    pictures = [node for node in nodes if node.role in {"img", "image"} and node.name and not is_actionable(node)]
    if pictures:
        labels = {label(node) for node in nodes if node not in pictures}
        nodes = [node for node in nodes if node not in pictures or label(node) not in labels]
    parts = (part for node in nodes for part in (node, *node.children))
    names = {_strip_label(part.name) for part in parts if part.role in _LABELLED and part.name}
    return [node for node in nodes if not (names and node.role in _LABELS and _is_label(node, names))]


def _is_label(node: Node, names: set[str]) -> bool:
    return _strip_label(" ".join(_find_texts(node))) in names and not any(map(is_actionable, node.walk()))


def _strip_label(name: str) -> str:
    return clean(name).strip(" :*").lower()


def _states(node: Node) -> str:
    shown = [state for state in node.states if state.partition("=")[0] in _SHOWN_STATES]
    return f" ({', '.join(shown)})" if shown else ""
