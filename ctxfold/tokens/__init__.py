"""Counting tokens: of texts, of models by a factor, and of budgets."""

from ctxfold.tokens.budget import MIN_BUDGET, Budget, factor
from ctxfold.tokens.counter import count, count_lines, head
from ctxfold.tokens.ranks import rarity

__all__ = ["MIN_BUDGET", "Budget", "count", "count_lines", "factor", "head", "rarity"]
