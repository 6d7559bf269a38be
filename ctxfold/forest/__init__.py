"""Branches, topics, undo: which revision a name stands for. It copies no record and decides no move; a host or a person names it."""

from ctxfold.forest.moves import BranchMove, Move, move
from ctxfold.forest.tree import BranchInfo, Topic, tree
from ctxfold.forest.undo import redo, undo

__all__ = ["BranchInfo", "BranchMove", "Move", "Topic", "move", "redo", "tree", "undo"]
