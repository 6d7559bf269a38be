"""`Budget`, the most a view may cost, in a model's own tokens and in o200k tokens."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import ceil
from typing import NamedTuple

from ctxfold.errors import BudgetError, InputError

__all__ = ["MIN_BUDGET", "Budget", "factor"]

MIN_BUDGET = 256
"""The least budget a view is promised to fit, in o200k tokens."""
_MOST = 10**9
"""Tokens beyond which no number is a budget: no model reads as many."""


def factor(model: str | None) -> float:
    """Tokens of a model for one o200k token; 1.0 where no model reads the view, the table's figure for one it names, its guard for any other."""
    if model is None:
        return 1.0
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


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in the reading model's own tokens, and what it leaves in ours.

    Attributes:
        limit: the most a view may cost, in tokens of the model that reads it.
        factor: tokens of that model for one o200k token.

    Raises:
        BudgetError: no whole number, one beyond a billion, or one that leaves less than `MIN_BUDGET` o200k tokens.
    """

    limit: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        if type(self.limit) is not int or self.limit > _MOST:  # a bool is no number of tokens
            raise BudgetError(f"a budget is a whole number of tokens, {_MOST} at most; give one such as 8000")
        if self.tokens < MIN_BUDGET:
            least = ceil(MIN_BUDGET * self.factor)
            raise BudgetError(f"a budget of {self.limit} tokens is too small for a view: give at least {least}")

    @classmethod
    def of(cls, limit: int, model: str | None = None) -> Budget:
        """The budget of `limit` tokens of `model`; of o200k tokens where no model is named. Raises BudgetError: as of the class; InputError: a model that is no text."""
        if model is not None and not isinstance(model, str):
            raise InputError(
                f"a model is named by text, not {type(model).__name__}; leave it out to count o200k tokens"
            )
        return cls(limit, factor(model))

    @property
    def tokens(self) -> int:
        """The limit in o200k tokens, rounded down."""
        return int(self.limit / self.factor)
