"""Chooses the pieces of a text or of a log that are worth most for their tokens."""
