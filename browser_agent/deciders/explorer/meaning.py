"""How near a passage is to a question in meaning, where a sentence encoder is at hand. It ranks nothing and weighs nothing.

A question costs about 60 comparisons of 330 letters over all the pages read for it, 90 at most on our own questions: 0.9 seconds of one core with
all-MiniLM-L6-v2, 1.4 at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from browser_agent.deciders.explorer.passages import Passage

__all__ = ["Encoder", "Likeness", "Meaning"]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near a text comes to what is asked: the cosine of the whole, and the mean of the best one for each of its words."""

    whole: float
    words: float


_LETTERS = 330
"""Of a passage and what it stands under, what is read: one or two sentences, which an encoder tells apart best."""


class Encoder(Protocol):
    """Whatever tells how near texts come to a question."""

    def compare(self, asked: str, texts: Sequence[str]) -> Sequence[Likeness]:
        """How near each text comes to what is asked."""
        ...


class Meaning:
    """One question, and how near passages come to it.

    Args:
        question: what is asked, in the user's words.
        encoder: what compares. Each text is given to it once.
    """

    def __init__(self, question: str, encoder: Encoder) -> None:
        self._question = question
        self._encoder = encoder
        self._known: dict[str, Likeness] = {}

    def near(self, passages: Sequence[Passage]) -> list[Likeness]:
        """How near each passage comes to the question, with the title it stands under."""
        texts = [f"{passage.place.name}: {passage.text}"[:_LETTERS] for passage in passages]
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known |= zip(new, self._encoder.compare(self._question, new), strict=True)
        return [self._known[text] for text in texts]
