"""The compact form of what was recorded: rendered once, complete in facts, smaller in tokens. It never folds and never stores."""

from ctxfold.log.compact.cells import parse
from ctxfold.log.compact.record import VERSION, compact
from ctxfold.log.compact.unwrap import Held, Tree, Words, trees_of, unwrapped

__all__ = ["VERSION", "Held", "Tree", "Words", "compact", "parse", "trees_of", "unwrapped"]
