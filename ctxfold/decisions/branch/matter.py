"""What a message shares with a stretch of turns, word by word, each weighed by how rare it is. It decides nothing.

A share of a message's words says too much where it has only one: "which channel?" is not about the sports channels of a bill. A sum of evidence
says how much there is: rare words tell, common ones do not, and a word that stands in many places tells of none.

Source: information content as term weight (Spärck Jones, 1972), with the tokenizer's table for the language at large.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import exp

from ctxfold.decisions.branch.likeness import dwelt, telling
from ctxfold.text.phrases import pattern
from ctxfold.tokens import rarity
from ctxfold.workspace.forest import Turn

__all__ = ["Matter", "covered", "squashed", "weights_of"]

_REPLY = 0.35
"""What a word of a reply counts against one the user said."""
_KIN = 0.9
"""What a word that is only nearly the same counts."""
_SOUND = 0.5
"""From which share a word counts as standing there."""
_TELLS = 0.4
"""From which rarity a word tells by itself."""


class Matter:
    """A message's telling words against those of stretches.

    Args:
        message: the user's words.
        told: a turn's words, less what it turned away from.
    """

    def __init__(self, message: str, told: Mapping[int, str]) -> None:
        self.asked = weights_of(message)
        self.total = sum(self.asked.values())
        self._told = told
        self._numbers = _numbers(message)
        self._persons = _persons(message)

    def shared(self, turns: Sequence[Turn]) -> Mapping[str, float]:
        """Of each telling word of the message, how surely it stands in a stretch: 1 where the user said it.

        Args:
            turns: the stretch.
        """
        if not self.asked or not turns:
            return dict.fromkeys(self.asked, 0.0)
        said = {word for turn in turns for word in telling(self._told.get(turn.steps[0], turn.said))}
        replied = {word: share for turn in turns for word, share in dwelt(turn.reply).items()}
        near = _indexed(said)
        return {
            word: 1.0 if word in said else max(_REPLY * replied.get(word, 0.0), _KIN * _nearest(word, near))
            for word in self.asked
        }

    def numbers(self, turns: Sequence[Turn], but: Sequence[Turn] = ()) -> float:
        """How many of the message's numbers the user said in a stretch, longer ones counting more.

        Args:
            turns: the stretch.
            but: another; what was said there too does not count.
        """
        if not self._numbers:
            return 0.0
        here = {number for turn in but for number in _numbers(turn.said)}
        there = {number for turn in turns for number in _numbers(turn.said)} - here
        return sum(min(1.0, 0.35 * len(number)) for number in self._numbers & there)

    def person(self, turns: Sequence[Turn]) -> float:
        """Whether the he or she the message speaks of was spoken of in a stretch: 1 if so, 0 if not, or if it speaks of nobody."""
        return float(any(self._persons & _persons(turn.said) for turn in turns))

    def stranger(self, turns: Sequence[Turn]) -> float:
        """Whether the message speaks of a he or a she that a stretch has not spoken of: 1 if so."""
        return float(bool(self._persons) and not self.person(turns))

    def mass(self, shared: Mapping[str, float], spread: Mapping[str, float] | None = None) -> float:
        """How much is shared, all told.

        Args:
            shared: what `shared` gave.
            spread: by what each word is divided, for standing in many places; None for nothing.
        """
        return sum(
            weight * shared[word] / (spread[word] if spread is not None else 1.0) for word, weight in self.asked.items()
        )

    def more(self, there: Mapping[str, float], here: Mapping[str, float]) -> float:
        """How much is shared with one stretch and not with another."""
        return sum(weight * max(0.0, there[word] - here[word]) for word, weight in self.asked.items())

    def lone(self, there: Mapping[str, float], here: Mapping[str, float]) -> int:
        """How many words that tell by themselves stand in one stretch and not in another."""
        return sum(there[word] >= _SOUND > here[word] and weight > _TELLS for word, weight in self.asked.items())

    def spread(self, stretches: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
        """By what each word is divided for standing in several stretches."""
        held = list(stretches)
        return {word: max(1, sum(shared[word] >= _SOUND for shared in held)) ** 0.7 for word in self.asked}


def squashed(mass: float) -> float:
    """An amount of evidence from 0 to 1: the first words count most."""
    return 1 - exp(-mass)


def covered(mass: float, total: float) -> float:
    """The share of a message that is known, smaller where the message tells little."""
    return mass / (total + 1.0)


@lru_cache(maxsize=8_192)
def weights_of(text: str) -> Mapping[str, float]:
    """The telling words of a text with how rare each is."""
    return {word: rarity(word) for word in telling(text)}


_PERSONS = frozenset({"he", "she"})
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@lru_cache(maxsize=8_192)
def _persons(text: str) -> frozenset[str]:
    """Of he and she, whom a text speaks of."""
    return frozenset(each for each in _PERSONS if pattern(f"message.{each}").search(text))


@lru_cache(maxsize=8_192)
def _numbers(text: str) -> frozenset[str]:
    """The numbers of a text, single digits left out."""
    return frozenset(number for number in _NUMBER.findall(text) if len(number) > 1)


_HEAD, _TAIL = 3, 6
"""Letters by which words that may be kin are found: their first, or their last."""


def _indexed(said: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Words by their first and last letters."""
    found: dict[str, list[str]] = {}
    for word in said:
        if word.isascii() and len(word) > _HEAD:
            found.setdefault(word[:_HEAD], []).append(word)
            if len(word) > _TAIL - 1:
                found.setdefault(f"-{word[-_TAIL:]}", []).append(word)
    return found


def _nearest(word: str, near: Mapping[str, Sequence[str]]) -> float:
    """How near the nearest word is: another form, a compound, a slip of the finger."""
    if not word.isascii() or len(word) <= _HEAD:
        return 0.0
    heads = max((_kin(word, other) for other in near.get(word[:_HEAD], ())), default=0.0)
    tails = 0.5 * (len(word) > _TAIL - 1 and f"-{word[-_TAIL:]}" in near)
    return max(heads, tails)


@lru_cache(maxsize=65_536)
def _kin(one: str, other: str) -> float:
    """How near two words are that begin alike."""
    if one.startswith(other) or other.startswith(one):
        return 0.8
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    slip = len(one) >= _TAIL and len(other) >= _TAIL
    if slip and (one[same + 1 :] in (other[same:], other[same + 1 :]) or one[same:] == other[same + 1 :]):
        return 0.7
    return 0.6 if same >= 5 and same >= 0.6 * max(len(one), len(other)) else 0.0
