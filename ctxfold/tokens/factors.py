"""How many tokens a model is billed for the text that counts as one of ours. It holds no price and calls no model."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

__all__ = ["Usage", "factor"]

_ENOUGH = 4_000
"""Counted tokens before what a model billed is trusted more than the table."""

_MARGIN = 1.05
"""A measured mean is raised by this much: a budget is a promise about every view, not the average one."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model has billed so far for texts that we counted: totals in tokens, ours and its own."""

    counted: int
    billed: int


def factor(model: str | None, usage: Usage | None = None) -> float:
    """Tokens of `model` for one o200k token: multiply a count by it, or divide a budget.

    Args:
        model: a model's name, with or without a provider before it; None where no model reads the view.
        usage: what this model has billed for texts that we counted; from 4,000 counted tokens on it replaces the table.

    Returns:
        1.0 for no model and for the embedded deciders, the table's figure for a model it names, and its guard for any other.
    """
    if model is None:
        return 1.0
    if usage is not None and usage.counted >= _ENOUGH and usage.billed > 0:
        return usage.billed / usage.counted * _MARGIN
    table = _table()
    name = re.sub(r"^.*(?=claude-)", "", model.lower())
    return next((figure for start, figure in table.models if _begins(name, start)), table.guard)


def _begins(name: str, start: str) -> bool:
    """Whether `name` is `start` or goes on after it with a new part: `claude-opus-4-5-20251101`, not `claude-opus-4-50`."""
    return name.startswith(start) and not name[len(start) :][:1].isalnum()


class _Table(NamedTuple):
    guard: float
    models: tuple[tuple[str, float], ...]  # longest name first


@cache
def _table() -> _Table:
    data = json.loads((resources.files(__package__) / "data" / "factors.json").read_text(encoding="utf-8"))
    return _Table(data["guard"], tuple(sorted(data["models"].items(), key=lambda entry: -len(entry[0]))))
