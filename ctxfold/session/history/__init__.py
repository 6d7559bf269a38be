"""What is kept of each decision: events and revisions, branches, undo, verifying, redacting, exporting and restoring."""

from ctxfold.session.history.branches import BranchMove, Move, move
from ctxfold.session.history.tree import BranchInfo, Topic, tree
from ctxfold.session.history.undo import redo, undo

__all__ = ["BranchInfo", "BranchMove", "Move", "Topic", "move", "redo", "tree", "undo"]
