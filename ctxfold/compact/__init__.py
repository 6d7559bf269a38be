"""The compact form of what was recorded: rendered once, complete in facts, smaller in tokens. It never folds and never stores."""

from ctxfold.compact.cells import parse
from ctxfold.compact.parts import Part, Tree, Words, parts_of, trees_of
from ctxfold.compact.step import VERSION, compact

__all__ = ["VERSION", "Part", "Tree", "Words", "compact", "parse", "parts_of", "trees_of"]
