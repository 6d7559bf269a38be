"""The nodes of one JSON value in their canonical form, each spelled once however often it is asked for. It renders nothing."""

from __future__ import annotations

from typing import Any

from ctxfold.compact.cells import all_flat, is_flat
from ctxfold.ledger import canonical, canonical_key

__all__ = ["Spelling"]


class Spelling:
    """Canonical forms and content keys of the nodes of a value, which must outlive it: a node is known by its identity."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[str, int]] = {}

    def __call__(self, value: Any) -> tuple[str, int]:
        """The canonical form of a node and its content key."""
        made = self._made.get(id(value))
        if made is None:
            text = self._composed(value)
            made = self._made[id(value)] = (text, canonical_key(text))
        return made

    def _composed(self, value: Any) -> str:
        """The form of a node from those of the nodes inside it."""
        match value:
            case list() if not all_flat(value):
                return f"[{','.join(map(self._inside, value))}]"
            case dict() if not all_flat(value.values()):
                return f"{{{','.join(f'{canonical(name)}:{self._inside(value[name])}' for name in sorted(value))}}}"
            case _:
                return canonical(value)

    def _inside(self, value: Any) -> str:
        return canonical(value) if is_flat(value) else self(value)[0]
