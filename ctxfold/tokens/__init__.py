"""What text costs: counts in o200k tokens, a model's factor on them, and a budget in them.

It counts offline, from the rank table that ships with the package, and never refuses a text. It knows no model's price, and it
never decides what to leave out of a view: `head` only says where a text must end to stay within a number of tokens.
"""

from ctxfold.tokens.budget import MIN_BUDGET, Budget, Usage, factor
from ctxfold.tokens.counter import count, head
from ctxfold.tokens.rarity import rarity
from ctxfold.tokens.seams import count_lines

__all__ = ["MIN_BUDGET", "Budget", "Usage", "count", "count_lines", "factor", "head", "rarity"]
