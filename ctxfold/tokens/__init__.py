"""What text costs: counts in o200k tokens, a model's factor on them, and a budget in them."""

from ctxfold.tokens.budget import MIN_BUDGET, Budget, factor
from ctxfold.tokens.counter import count, count_lines, head
from ctxfold.tokens.rarity import rarity

__all__ = ["MIN_BUDGET", "Budget", "count", "count_lines", "factor", "head", "rarity"]
