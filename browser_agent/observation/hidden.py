"""Removes text that a person would not see from a snapshot, and marks invisible controls as `unseen`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from browser_agent.observation.inline import is_actionable
from ctxfold.log.snapshot import Node

_SHORT = 4


def remove_hidden(root: Node, hidden: Sequence[Sequence[str]], veiled: Sequence[str]) -> tuple[Node, int]:
    """Leave out unseen text.

    Returns:
        The snapshot without as many occurrences of each run as are unseen, and how many were left out. A text that
        stands on the page once seen and once unseen stays once.
    """
    remover = _Remover([tuple(run) for run in hidden], frozenset(veiled))
    root = remover.node(root)
    if remover.left:  # runs that the snapshot tells in several texts: piece by piece
        pieces = _Remover([(piece,) for run in remover.left for piece in run], frozenset())
        root = pieces.node(root)
        return root, remover.removed + pieces.removed
    return root, remover.removed


class _Remover:
    """Counts down the occurrences to leave out while the tree is rebuilt."""

    def __init__(self, hidden: Sequence[tuple[str, ...]], veiled: frozenset[str]) -> None:
        self._counts = Counter(hidden)
        self._patterns = {run: re.compile(r"\s*".join(re.escape(piece) for piece in run)) for run in self._counts}
        self._veiled = veiled
        self.removed = 0

    @property
    def left(self) -> list[tuple[str, ...]]:
        """Runs that were not found."""
        return [run for run in self._counts.elements() if len(run) > 1]

    def node(self, node: Node) -> Node:
        """`node` without what is unseen in it."""
        if not self._counts and not self._veiled:
            return node
        children = tuple(kept for kept in (self._child(child) for child in node.children) if kept is not None)
        text = node.text if is_actionable(node) else self._seen(node.text)
        states = node.states
        if is_actionable(node) and self._veiled and " ".join(node.name.split()) in self._veiled:
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
        for run in [run for run in self._counts if run[0] in text]:
            if sum(map(len, run)) < _SHORT and text.strip() != " ".join(run):
                continue  # too short to be told from a part of a word that is seen
            rest, found = self._patterns[run].subn(" ", text, count=self._counts[run])
            if found:
                self.removed += found
                self._counts[run] -= found
                if self._counts[run] <= 0:
                    del self._counts[run]
                text = " ".join(rest.split())
        return text
