"""Cue phrases and word lists, one data file a language, shared by all that reads a user's words."""

from ctxfold.phrases.tables import choices, listed, numbers, pattern

__all__ = ["choices", "listed", "numbers", "pattern"]
