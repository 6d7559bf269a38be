"""The most a view may cost. A frozen value; it counts nothing and shrinks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ctxfold.errors import BudgetError
from ctxfold.tokens.factors import factor

__all__ = ["MIN_BUDGET", "Budget"]

MIN_BUDGET = 256
"""The least budget a view is promised to fit, in o200k tokens."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in the reading model's own tokens, and what it leaves in ours.

    Attributes:
        limit: the most a view may cost, in tokens of the model that reads it.
        factor: tokens of that model for one o200k token.

    Raises:
        BudgetError: less than `MIN_BUDGET` o200k tokens are left.
    """

    limit: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.tokens < MIN_BUDGET:
            least = ceil(MIN_BUDGET * self.factor)
            raise BudgetError(f"a budget of {self.limit} tokens is too small for a view: give at least {least}")

    @classmethod
    def of(cls, limit: int, model: str | None = None) -> Budget:
        """The budget of `limit` tokens of `model`; of o200k tokens where no model is named."""
        return cls(limit, factor(model))

    @property
    def tokens(self) -> int:
        """The limit in o200k tokens, rounded down."""
        return int(self.limit / self.factor)
