"""Takes out of a snapshot what a person would not see: text that is transparent, off the screen or a pixel high. Pure.

A control that is out of sight keeps its name, since it may be needed, and is marked `unseen`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from browser_agent.observation.inline import acts
from browser_agent.observation.snapshot import Node

_SHORT = 4


def without_unseen(root: Node, hidden: Sequence[Sequence[str]], veiled: Sequence[str]) -> tuple[Node, int]:
    """Leave out unseen text.

    Args:
        root: a whole snapshot.
        hidden: runs of unseen text, each in the pieces it stands in, whitespace squeezed.
        veiled: the words of controls that are out of sight, or whose words are.

    Returns:
        The snapshot without as many occurrences of each run as are unseen, and how many were left out. A text that
        stands on the page once seen and once unseen stays once.
    """
    remover = _Remover(hidden, frozenset(veiled))
    return remover.node(root), remover.removed


class _Remover:
    """Counts down the occurrences to leave out while the tree is rebuilt."""

    def __init__(self, hidden: Sequence[Sequence[str]], veiled: frozenset[str]) -> None:
        runs: dict[str, int] = {}
        patterns: dict[str, re.Pattern[str]] = {}
        for pieces in hidden:
            key = " ".join(pieces)
            runs[key] = runs.get(key, 0) + 1
            patterns.setdefault(key, re.compile(r"\s*".join(re.escape(piece) for piece in pieces)))
        self._left = runs
        self._patterns = patterns
        self._firsts = {key: key.split(" ", 1)[0] for key in runs}
        self._veiled = veiled
        self.removed = 0

    def node(self, node: Node) -> Node:
        if not self._left and not self._veiled:
            return node
        children = tuple(kept for kept in (self._child(child) for child in node.children) if kept is not None)
        text = node.text if acts(node) else self._seen(node.text)
        states = node.states
        if acts(node) and self._veiled and _squeezed(node.name) in self._veiled:
            states = (*states, "unseen")
        if children == node.children and text == node.text and states == node.states:
            return node
        return replace(node, children=children, text=text, states=states)

    def _child(self, child: Node) -> Node | None:
        if child.role != "text":
            return self.node(child)
        text = self._seen(child.text)
        return (child if text == child.text else replace(child, text=text)) if text else None

    def _seen(self, text: str) -> str:
        if not text:
            return text
        for key in [key for key in self._left if self._firsts[key] in text]:
            if len(key) < _SHORT:
                found = 1 if text.strip() == key else 0
                rest = "" if found else text
            else:
                rest, found = self._patterns[key].subn(" ", text, count=self._left[key])
            if found:
                self.removed += found
                self._left[key] -= found
                if self._left[key] <= 0:
                    del self._left[key]
                text = " ".join(rest.split())
        return text


def _squeezed(text: str) -> str:
    return " ".join(text.split())
