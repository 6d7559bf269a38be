"""Finds a page's search form: where it leads, and the ref of its field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlencode

from browser_agent.observation.capture import SearchFound
from browser_agent.observation.inline import clean
from browser_agent.observation.values import SearchBox
from ctxfold.log.snapshot import Node

__all__ = ["find_search"]


def find_search(searches: Sequence[SearchFound], root: Node) -> SearchBox | None:
    """The first search form of a page, with the ref of its field; None where there is none."""
    if not searches:
        return None
    found = searches[0]
    action = found.action
    if found.extra and action:
        action += ("&" if "?" in action else "?") + urlencode(found.extra)
    method: Literal["get", "post"] = "post" if found.method == "post" else "get"
    return SearchBox(ref=_search_ref(root, found), action=action, param=found.param, method=method)


def _search_ref(root: Node, found: SearchFound) -> str | None:
    """The field of the search form in the snapshot: one called as the form's is, else one in a search landmark."""
    wanted = clean(found.label)
    inside: str | None = None
    stack = [(root, False)]
    while stack:
        node, searching = stack.pop()
        searching = searching or node.role == "search"
        if node.ref is not None and node.role in {"textbox", "searchbox", "combobox"}:
            if wanted and wanted in {clean(node.name), clean(node.placeholder)}:
                return node.ref
            if inside is None and (searching or node.role == "searchbox"):
                inside = node.ref
        stack.extend((child, searching) for child in reversed(node.children))
    return inside
