"""Folding: the directive and its applier, the embedded folder, the water marks, the budget ladder. It stores nothing and calls no model."""

from ctxfold.decisions.fold.consolidate import due, embedded_tile, micro_tile, told_tile
from ctxfold.decisions.fold.directive import FoldDirective, fold, stretch
from ctxfold.decisions.fold.embedded import Settings

__all__ = ["FoldDirective", "Settings", "due", "embedded_tile", "fold", "micro_tile", "stretch", "told_tile"]
