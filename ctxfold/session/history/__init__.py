"""Branches, topics, undo: which revision a name stands for. It copies no record and decides no move; a host or a person names it."""

from ctxfold.session.history.branches import BranchMove, Move, move
from ctxfold.session.history.tree import BranchInfo, Topic, tree
from ctxfold.session.history.undo import redo, undo

__all__ = ["BranchInfo", "BranchMove", "Move", "Topic", "move", "redo", "tree", "undo"]
