"""Finds the short texts of a page that hold the word they are asked for by, where no label does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from browser_agent.observation.inline import AROUND, INTERACTIVE, is_inline, render, terms
from ctxfold.log.snapshot import Node

__all__ = ["find_phrases", "names_itself", "pick_column"]

_APART = AROUND | {"deletion", "heading", "option"}
"""What holds none of a page's own values: what stands around it, what is struck out, titles."""
_ALIKE = frozenset({"listitem", "article", "row"})
_MOST_WORDS = 6


def find_phrases(root: Node) -> tuple[str, ...]:
    """The short texts of a page's own part, without those of controls."""
    found = dict.fromkeys(
        render([node], refs=False).text
        for node in _own(root)
        if is_inline(node) and not any(inner.role in INTERACTIVE for inner in node.walk())
    )
    return tuple(text for text in found if 1 < len(text.split()) <= _MOST_WORDS)


def names_itself(called: frozenset[str], text: str) -> bool:
    """Whether a short text says more than the words that a value is called by, and all of these."""
    return bool(called) and called < terms(text) and len(text.split()) <= _MOST_WORDS


def pick_column(called: frozenset[str], rows: Sequence[Sequence[str]]) -> list[str] | None:
    """For each row its one text that names itself, empty where it has none; None where most rows have none. What all rows say is a label and no value."""
    found = [{text for text in row if names_itself(called, text)} for row in rows]
    labels = frozenset.intersection(*map(frozenset, found)) if found else frozenset()
    column = ["".join(texts - labels) if len(texts - labels) == 1 else "" for texts in found]
    return column if 2 * sum(map(bool, column)) > len(rows) else None


def _own(root: Node) -> Iterator[Node]:
    """The nodes of a page outside menus, controls and things alike that stand beside each other."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        roles = [child.role for child in node.children]
        stack.extend(
            child
            for child in reversed(node.children)
            if child.role not in _APART | INTERACTIVE and not (child.role in _ALIKE and roles.count(child.role) > 1)
        )
