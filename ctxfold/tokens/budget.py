"""The most a view may cost. A frozen value; it counts nothing and shrinks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ctxfold.errors import BudgetError, InputError
from ctxfold.tokens.factors import factor

__all__ = ["MIN_BUDGET", "Budget"]

MIN_BUDGET = 256
"""The least budget a view is promised to fit, in o200k tokens."""
_MOST = 10**9
"""Tokens beyond which no number is a budget: no model reads as many."""


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
        if not _is_whole(self.limit) or self.limit > _MOST:
            raise BudgetError(f"a budget is a whole number of tokens, {_MOST} at most; give one such as 8000")
        if self.tokens < MIN_BUDGET:
            least = ceil(MIN_BUDGET * self.factor)
            raise BudgetError(f"a budget of {self.limit} tokens is too small for a view: give at least {least}")

    @classmethod
    def of(cls, limit: int, model: str | None = None) -> Budget:
        """The budget of `limit` tokens of `model`; of o200k tokens where no model is named.

        Raises:
            BudgetError: as of the class.
            InputError: a model that is no text.
        """
        if model is not None and not isinstance(model, str):
            raise InputError(
                f"a model is named by text, not {type(model).__name__}; leave it out to count o200k tokens"
            )
        return cls(limit, factor(model))

    @property
    def tokens(self) -> int:
        """The limit in o200k tokens, rounded down."""
        return int(self.limit / self.factor)


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
