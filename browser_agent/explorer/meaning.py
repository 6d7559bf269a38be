"""How near a passage is to a question in meaning, where a sentence encoder is at hand. It ranks nothing and weighs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from browser_agent.explorer.passages import Passage

__all__ = ["Encoder", "Meaning"]

_LETTERS = 330
"""Of a passage and what it stands under, what is read: one or two sentences, which an encoder tells apart best."""


class Encoder(Protocol):
    """Whatever gives texts vectors of length one; `ctxfold.encoder.FolderEncoder` is one."""

    def encode(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """A vector for each text."""
        ...


class Meaning:
    """One question, and how near passages come to it.

    Args:
        question: what is asked, in the user's words.
        encoder: what gives texts their vectors. Each text is given to it once.
    """

    def __init__(self, question: str, encoder: Encoder) -> None:
        self._question = question
        self._encoder = encoder
        self._known: dict[str, float] = {}

    def near(self, passages: Sequence[Passage]) -> list[float]:
        """The cosine between the question and each passage with the title it stands under, -1 to 1."""
        texts = [f"{passage.place.name}: {passage.text}"[:_LETTERS] for passage in passages]
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            asked, *vectors = self._encoder.encode([self._question, *new])
            for text, vector in zip(new, vectors, strict=True):
                self._known[text] = sum(one * two for one, two in zip(asked, vector, strict=True))
        return [self._known[text] for text in texts]
