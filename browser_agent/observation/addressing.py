"""Lists what of a page can be addressed: every element with a ref, and every link."""

from __future__ import annotations

from collections.abc import Mapping

from browser_agent.observation.capture import Capture
from browser_agent.observation.hidden import remove_hidden
from browser_agent.observation.inline import AROUND, FIELDS, INTERACTIVE, clean, cut, label, resolve_url
from browser_agent.observation.values import Control, Link
from ctxfold.log.snapshot import Node, parse

__all__ = ["address", "list_controls"]

_NAME = 100


def list_controls(capture: Capture) -> Mapping[str, Control]:
    """Every element of a page that can be addressed now, by its ref."""
    return address(remove_hidden(parse(capture.yaml), capture.structure.hidden, capture.structure.veiled)[0], capture)[
        0
    ]


def address(root: Node, capture: Capture) -> tuple[Mapping[str, Control], tuple[Link, ...]]:
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
        main = main and node.role not in AROUND
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
        name=(label(node) or cut(clean(node.placeholder), _NAME)) if named else "",
        value=value,
        states=node.states,
        url=url,
        submits=node.role == "button" and clean(node.name) in submits,
    )
