"""Adds our entry to a host's settings file, and removes it again."""

__all__: tuple[str, ...] = ()
