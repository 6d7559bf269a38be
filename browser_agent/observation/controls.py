"""Lists what of a page can be acted on, and its links, with absolute addresses."""

from __future__ import annotations

from collections.abc import Mapping

from browser_agent.observation.capture import Capture
from browser_agent.observation.inline import FIELDS, INTERACTIVE, clean, cut, label, resolve_url
from browser_agent.observation.values import Control, Link
from ctxfold.log.snapshot import Node

__all__ = ["find_controls"]

_TITLE = 100
_APART = frozenset({"navigation", "banner", "contentinfo", "complementary", "search"})


def find_controls(root: Node, capture: Capture) -> tuple[Mapping[str, Control], tuple[Link, ...]]:
    """Every element with a ref, and every link, with addresses made absolute in the frame they stand in."""
    refs: dict[str, Control] = {}
    links: list[Link] = []
    section = ""
    submits = frozenset(clean(name) for name in capture.structure.submits)
    titles = {
        _squashed(line): clean(found.title) for found in capture.structure.sections for line in found.title.split("\n")
    }
    stack: list[tuple[Node, str, bool]] = [(root, capture.structure.base or capture.url, True)]
    while stack:
        node, base, main = stack.pop()
        main = main and node.role not in _APART
        if node.role in {"heading", "term"}:
            section = titles.get(_squashed(label(node)), label(node))
        if node.role == "iframe" and node.ref is not None:
            base = capture.frames.get(node.ref, base)
        url = resolve_url(base, node.url)
        if node.ref is not None:
            refs[node.ref] = _control(node, url, submits)
        if node.role == "link" and node.url:
            links.append(Link(ref=node.ref, text=label(node), url=url, section=section, main=main))
        stack.extend((child, base, main) for child in reversed(node.children))
    return refs, tuple(links)


def _squashed(title: str) -> str:
    """A title as the snapshot and the document agree on it: without spaces, which one puts around marked-up words."""
    return "".join(clean(title).split()).lower()


def _control(node: Node, url: str, submits: frozenset[str]) -> Control:
    named = node.role in INTERACTIVE or node.clickable or node.name
    value = ""
    if node.role in FIELDS:
        value = " ".join(
            clean(part.text) for part in (node, *node.children) if part.role in FIELDS | {"text"} and part.text
        )
    return Control(
        ref=node.ref or "",
        role=node.role,
        name=(label(node) or cut(clean(node.placeholder), _TITLE)) if named else "",
        value=value,
        states=node.states,
        url=url,
        submits=node.role == "button" and clean(node.name) in submits,
    )
