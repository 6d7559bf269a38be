"""Masks redacted bytes in the texts of a stored plan or extraction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["masked_payload"]

_TEXTS = frozenset({"text", "why", "need", "hint", "path"})
_COURSE, _FACTS, _OMITTED = "course", "facts", "omitted"

Mask = Callable[[str], str]


def masked_payload(payload: dict[str, Any], mask: Mask, stars: Mask, refs: frozenset[str]) -> dict[str, Any]:
    """The payload of an event with its texts masked."""
    found: dict[str, Any] = _masked(payload, mask, stars, refs)
    return found


def _masked(node: Any, mask: Mask, stars: Mask, refs: frozenset[str]) -> Any:
    match node:
        case dict():
            sliced = _record(node.get("ref")) in refs
            return {
                key: _cell(key, value, stars if sliced else mask, (mask, stars, refs)) for key, value in node.items()
            }
        case list():
            return [_masked(each, mask, stars, refs) for each in node]
        case _:
            return node


def _cell(key: str, value: Any, own: Mask, how: tuple[Mask, Mask, frozenset[str]]) -> Any:
    mask, stars, refs = how
    if key in _TEXTS and isinstance(value, str):
        return own(value) if key != "path" else mask(value)
    if key == _FACTS and isinstance(value, list):
        return [own(fact) for fact in value]
    if key == _OMITTED and isinstance(value, list):
        return [mask(said) for said in value]
    if key == _COURSE and isinstance(value, list):
        return [
            [ref, cue, stars(text) if _record(ref) in refs else mask(text), *rest] for ref, cue, text, *rest in value
        ]
    return _masked(value, mask, stars, refs)


def _record(ref: object) -> str:
    """The record of an address of lines."""
    return ref.partition(":")[0] if isinstance(ref, str) else ""
