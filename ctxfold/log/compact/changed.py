"""What differs between two versions of one object, when that is the shorter thing to say. It finds no versions: it is given the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxfold.log.compact.cells import cell, is_flat, pair, word
from ctxfold.log.facts import Ledger, canonical, content_key, identity, identity_key

__all__ = ["Change", "changed"]


@dataclass(frozen=True, slots=True)
class Change:
    """What an object says now that its newest version did not.

    Attributes:
        cells: what changed, with what it was.
        deep: children that changed and need rows of their own.
        points: its ledger key.
    """

    cells: tuple[str, ...]
    deep: tuple[tuple[str, Any], ...]
    points: tuple[int, ...]


def changed(value: dict[str, Any], past: Ledger, path: str) -> Change | None:
    """What differs from the newest version of the same object, when that is the shorter thing to say."""
    named = identity(value)
    key = identity_key(value, path)
    before = past.find(key) if key is not None else None
    old = before.value if before is not None else None
    if named is None or before is None or not isinstance(old, dict):
        return None
    both = {**old, **value}
    fields = [
        name for name in both if (name in old) != (name in value) or canonical(old[name]) != canonical(value[name])
    ]
    if len(fields) * 2 > len(value):
        return None
    cells: list[str] = []
    deep: list[tuple[str, Any]] = []
    for name in fields:
        if name not in value:
            cells.append(f"{word(name)} gone")
        elif is_flat(value[name]):
            was = f" (was {cell(old[name])})" if name in old and is_flat(old[name]) else ""
            cells.append(pair(name, value[name]) + was)
        else:
            deep.append((name, value[name]))
    return Change(tuple(cells), tuple(deep), (content_key(old),))
