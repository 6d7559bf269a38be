"""Cue phrases and word lists, one data file a language, shared by all that reads a user's words."""

from ctxfold.phrases.tables import ALIKE, choices, listed, named, numbers, pattern

__all__ = ["ALIKE", "choices", "listed", "named", "numbers", "pattern"]
