"""Asking a model for one of the four decisions, checking the reply, and falling back."""
