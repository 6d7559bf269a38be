"""Lines of JSON that end in a seal: how many they are and the hash of all of them, so that a file cut short or altered is known. It knows no session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from ctxfold.store.codec import encode

__all__ = ["sealed", "told", "unsealed"]


def told(trees: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Each tree on a line of its own. Nothing but what JSON demands is escaped: two halves of a pair, each a character by itself, would join when read."""
    for tree in trees:
        yield json.dumps(tree, ensure_ascii=False, separators=(",", ":"))


def sealed(lines: Iterable[str]) -> Iterator[str]:
    """The lines and a closing one that seals them."""
    made = _Seal()
    for line in lines:
        made.take(line)
        yield line
    yield from told([made.tree])


def unsealed(lines: Iterable[str]) -> list[str]:
    """The lines before the closing one.

    Raises:
        ValueError: it is missing, or is not theirs.
    """
    *before, closing = lines
    made = _Seal()
    for line in before:
        made.take(line)
    if json.loads(closing) != made.tree:
        raise ValueError("these lines are not the ones that were sealed")
    return before


class _Seal:
    """What seals lines, as they are taken in one by one."""

    def __init__(self) -> None:
        self._lines = 0
        self._hash = blake2b(digest_size=16, person=b"seal")

    def take(self, line: str) -> None:
        """Take in a line, without its end."""
        self._lines += 1
        self._hash.update(encode(line) + b"\n")

    @property
    def tree(self) -> dict[str, Any]:
        """The closing line."""
        return {"end": {"lines": self._lines, "hash": self._hash.hexdigest()}}
