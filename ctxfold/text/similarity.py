"""How alike two texts are: TF-IDF over words and over four-character sequences, compared by cosine.

Words say what a text is about; four-character sequences also match where a word is misspelled, joined or inflected. Each half is brought to length one
and the two are weighed equally, so that a long text's many sequences do not drown its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from functools import lru_cache
from itertools import chain
from math import log, sqrt

from ctxfold.text.words import is_common, words

__all__ = ["Vector", "Vocabulary", "changed_lines", "cosine", "features"]

Vector = Mapping[str, float]
"""A sparse vector of length one, or empty. Keys are words, and fours of characters behind a `~`."""

_GRAM = 4
_WORDS_SHARE = 0.5
"""Of the squared length; the rest is the fours'."""
_TURNED = 2_000
"""Lines that may differ for the difference to be sought."""


def features(text: str) -> Counter[str]:
    """What of a text is compared: its words and the fours of characters inside them, with how often each occurs. Common words count only in a text of no others: they would make everything alike while a vocabulary is small."""
    found = words(text)
    found = [word for word in found if not is_common(word)] or found
    return Counter(chain(found, chain.from_iterable(map(_grams, found))))


class Vocabulary:
    """How many texts hold each feature. It grows by `add`, and what is rare among the texts weighs more in later vectors.

    Vectors made before and after it grew can be compared; they only weigh a little differently. Whoever needs them equal makes
    them anew from the texts.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._holders: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take one more text into account; an empty one counts too."""
        self._holders.update(features(text).keys())
        self._texts += 1

    def vector(self, text: str) -> Vector:
        """A text, in the vocabulary or not, as a vector of length one; empty when it has no words."""
        holders, more = self._holders, self._texts + 1
        weights = {
            name: (1 + log(times)) * (1 + log(more / (1 + holders[name]))) for name, times in features(text).items()
        }
        by_kind = (
            {name: weight for name, weight in weights.items() if name[0] != "~"},
            {name: weight for name, weight in weights.items() if name[0] == "~"},
        )
        halves = [_scaled(half, share) for half, share in zip(by_kind, (_WORDS_SHARE, 1 - _WORDS_SHARE), strict=True)]
        return _scaled(halves[0] | halves[1], 1.0)


def cosine(one: Vector, other: Vector) -> float:
    """How alike two vectors are: 0 for nothing in common, 1 for the same direction. An empty vector is like none."""
    if len(one) > len(other):
        one, other = other, one
    return min(1.0, sum(weight * other[name] for name, weight in one.items() if name in other))


@lru_cache(maxsize=1 << 14)
def _grams(word: str) -> tuple[str, ...]:
    """The fours of characters of a word with its borders; a shorter one is a single piece."""
    padded = f" {word} "
    return tuple(f"~{padded[at : at + _GRAM]}" for at in range(max(1, len(padded) - _GRAM + 1)))


def _scaled(weights: Mapping[str, float], share: float) -> dict[str, float]:
    """Weights with the square root of `share` for their length; nothing stays nothing."""
    length = sqrt(sum(weight * weight for weight in weights.values()))
    if not length:
        return {}
    factor = sqrt(share) / length
    return {name: weight * factor for name, weight in weights.items()}


@lru_cache(maxsize=256)
def changed_lines(before: str, after: str) -> tuple[str, ...] | None:
    """The lines that went and came, as a unified diff without context; None where that is half of both or more, or too long to be sought."""
    old, new = before.split("\n"), after.split("\n")
    same = set(old) & set(new)
    turned = sum(line not in same for line in old) + sum(line not in same for line in new)
    if turned > min(_TURNED, (len(old) + len(new)) // 2) or max(len(old), len(new)) > 20 * _TURNED:
        return None
    return tuple(unified_diff(old, new, n=0, lineterm=""))[2:]
