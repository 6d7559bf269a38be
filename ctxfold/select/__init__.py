"""Chooses the pieces of a text or of a log that are worth most for their tokens."""

from ctxfold.select.choose import Choice, find_excerpts, select
from ctxfold.select.pieces import Piece, pieces_of_lines, pieces_of_prose, pieces_of_text
from ctxfold.select.score import LOG, PAGE, Weights, find_promising, score
from ctxfold.select.write import GAP, write

__all__ = [
    "GAP",
    "LOG",
    "PAGE",
    "Choice",
    "Piece",
    "Weights",
    "find_excerpts",
    "find_promising",
    "pieces_of_lines",
    "pieces_of_prose",
    "pieces_of_text",
    "score",
    "select",
    "write",
]
