"""What the explorer knows of English: forms of words, words for the same thing, words that tell little. It compares no text."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ctxfold.text import stem

__all__ = ["alike", "others", "root", "slight"]


def root(word: str) -> str:
    """What a word is compared by: the stem of it, or of the word it is an irregular form of.

    Args:
        word: one word in lower case.
    """
    return stem(_irregular().get(word, word))


@cache
def slight() -> frozenset[str]:
    """The roots of words that say how a question is put rather than what it is about."""
    return frozenset(root(word) for line in _lines("slight.txt") for word in line)


@cache
def alike() -> dict[str, frozenset[str]]:
    """Of each stem, the stems that mean the same thing in documentation."""
    found: dict[str, set[str]] = {}
    for group in _lines("alike.txt"):
        stems = [root(word) for word in group]
        for word in stems:
            found.setdefault(word, set()).update(stems)
    return {word: frozenset(group) for word, group in found.items()}


def others(key: str) -> tuple[str, ...]:
    """The words, as they are written, that mean the same as a root, its own irregular forms among them.

    Args:
        key: a root, as `root` gives it.
    """
    return _written().get(key, ())


@cache
def _written() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for name in ("irregular.txt", "alike.txt"):
        for group in _lines(name):
            for word in group:
                found.setdefault(root(word), {}).update(dict.fromkeys(group))
    return {word: tuple(group) for word, group in found.items()}


@cache
def _irregular() -> dict[str, str]:
    return {form: word for word, *forms in _lines("irregular.txt") for form in forms}


@cache
def _lines(name: str) -> tuple[tuple[str, ...], ...]:
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split()) for line in lines if line and not line.startswith("#"))
