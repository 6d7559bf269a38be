"""The compact form of what was recorded: rendered once, complete in facts, smaller in tokens. It never folds and never stores."""

from ctxfold.compact.cells import parse
from ctxfold.compact.step import VERSION, compact

__all__ = ["VERSION", "compact", "parse"]
