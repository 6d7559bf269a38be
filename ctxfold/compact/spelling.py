"""The nodes of one JSON value in their canonical form, each spelled once however often it is asked for. It renders nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
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
        return self._made.get(id(value)) or self._make(value)

    def _make(self, value: Any) -> tuple[str, int]:
        text = self._composed(value)
        made = self._made[id(value)] = (text, canonical_key(text))
        return made

    def _composed(self, value: Any) -> str:
        """The form of a node from those of the nodes inside it."""
        if isinstance(value, dict):
            if all_flat(value.values()):
                return canonical(value)
            return f"{{{','.join([f'{canonical(name)}:{self._inside(value[name])}' for name in sorted(value)])}}}"
        if isinstance(value, list) and not all_flat(value):
            return f"[{','.join(self._each(value))}]"
        return canonical(value)

    def _each(self, value: list[Any]) -> Iterable[str]:
        """The forms of what a list holds. Flat records are what results hold most of: they are told at one look."""
        if set(map(type, value)) == {dict} and all_flat(list(chain.from_iterable(map(dict.values, value)))):
            texts = list(map(canonical, value))
            self._made.update(zip(map(id, value), zip(texts, map(canonical_key, texts), strict=True), strict=True))
            return texts
        return map(self._inside, value)

    def _inside(self, value: Any) -> str:
        return canonical(value) if is_flat(value) else self(value)[0]
