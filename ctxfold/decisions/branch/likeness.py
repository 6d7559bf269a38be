"""How near a message is to each turn and each limb of a forest, on one scale whatever measures it. It decides nothing.

The embedded measure is TF-IDF over words and fours of characters, and the share of a message's telling words that a limb has used. An encoder
adds its cosine, placed among those the dialogue itself has shown: a constant would fit neither another encoder nor another dialogue.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import Protocol

from ctxfold.decisions.branch.fields import fields_of, kinship
from ctxfold.text import STOP_WORDS, Vector, Vocabulary, centroid, cosine, features, stem, words
from ctxfold.text.phrases import listed, pattern
from ctxfold.workspace.forest import Turn

__all__ = ["Encoder", "Measure", "Nearness", "dwelt", "telling"]


class Encoder(Protocol):
    """Texts to vectors of length one, by a model that stays the same for the length of a process."""

    @property
    def name(self) -> str:
        """What it is called in a reason."""

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length one for each text."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a message is to a stretch of turns.

    Attributes:
        score: all told, 0 for strangers; about 1 for the same words.
        cover: the share of the message's telling words that the user has used there, replies counted less.
        own: the share of its telling words that stand there and nowhere else.
        nearest: the place in the stretch of the turn it is nearest to.
        peak: how near that turn is.
        kin: how well its field goes with theirs, None where either tells of none.
        meant: how near it is by an encoder, as a cosine; 0 without one.
        middle: how near it is to the middle of their meanings; 0 without an encoder.
        rank: where that stands among the cosines this dialogue has shown, 0 to 1; 0 without an encoder.
    """

    score: float
    cover: float
    own: float
    nearest: int
    peak: float
    kin: float | None
    meant: float = 0.0
    middle: float = 0.0
    rank: float = 0.0


_REPLY = 0.45
"""What a word in a reply weighs against one the user said."""
_AGAIN = 0.4
"""What a word weighs on a branch that took it over from an older one: "instead of Kyoto" is not about Kyoto."""
_READ = 1_200
"""Characters of a text that are compared."""

_DULL = frozenset(map(stem, STOP_WORDS)) | frozenset(word for entry in listed("plain") for word in words(entry))


@lru_cache(maxsize=8_192)
def telling(text: str) -> tuple[str, ...]:
    """The words of a text that tell what it is about, each once: neither stop words nor the plain words of any request."""
    return tuple(dict.fromkeys(word for word in words(text[:_READ]) if word not in _DULL and not _bare(word)))


@lru_cache(maxsize=8_192)
def dwelt(reply: str) -> Mapping[str, float]:
    """The telling words of a reply: 1 for one it comes back to, less for one it mentions once: a long answer brushes many matters that are not its own."""
    counted = Counter(words(reply[:_READ]))
    return {word: 1.0 if counted[word] > 1 else _ONCE for word in telling(reply)}


_ONCE = 0.5
"""What a word of a reply counts that stands there once."""


def _bare(word: str) -> bool:
    """Whether a word is a bare number or a lone letter: it says how much, not what."""
    return word.isdecimal() or len(word) < 2 or (word.isascii() and word[0].isdigit() and word[-1].isdigit())


_counted = lru_cache(maxsize=8_192)(features)


class Measure:
    """What a message is compared by: the vocabulary of all turns, and where an encoder is given its vectors.

    Args:
        topics: the limbs of each topic as stretches of turns, the oldest limb first.
        message: the message.
        encoder: adds its cosine to the embedded measure; None leaves that alone.
    """

    def __init__(
        self, topics: Sequence[Sequence[Sequence[Turn]]], message: str, encoder: Encoder | None = None
    ) -> None:
        self._stretches = stretches = [stretch for limbs in topics for stretch in limbs]
        self._repeated, self._left = _repeated(topics)
        self._forks = {limb[0].steps[0] for limbs in topics for limb in list(filter(None, limbs))[1:]}
        self._vocabulary = Vocabulary()
        for turn in {id(turn): turn for stretch in stretches for turn in stretch}.values():
            self._vocabulary.add(f"{turn.said}\n{turn.reply[:_READ]}")
        self._weighed: dict[str, Vector] = {}
        self._middles: dict[tuple[int, int], Vector] = {}
        self._encoder = encoder
        self._holders = self._held()
        self._vectors = self._encoded() if encoder is not None else {}
        self._seen = self._pairs()
        self.message = message

    def _held(self) -> dict[str, int]:
        """Of each telling word, in how many stretches it stands."""
        held: dict[str, int] = {}
        for stretch in self._stretches:
            for word in {word for turn in stretch for text in (turn.said, turn.reply) for word in telling(text)}:
                held[word] = held.get(word, 0) + 1
        return held

    def near(self, stretch: Sequence[Turn], text: str | None = None) -> Nearness:
        """How near the message, or a part of it, is to a stretch of turns.

        Args:
            stretch: the turns.
            text: what is compared; None for the whole message.
        """
        asked = self.message if text is None else text
        if not stretch:
            return Nearness(0.0, 0.0, 0.0, -1, 0.0, None)
        peaks = [self._alike(asked, turn) for turn in stretch]
        nearest = max(range(len(peaks)), key=lambda at: (peaks[at], at))
        whole = cosine(self._words(asked), self._middle(stretch))
        cover, own = self._cover(asked, stretch)
        meant, middle, rank = self._meant(asked, stretch)
        kin = kinship(fields_of(asked), _summed(stretch))
        score = 0.45 * cover + 0.35 * min(1.0, 2 * peaks[nearest]) + 0.2 * min(1.0, 3 * whole)
        return Nearness(score, cover, own, nearest, peaks[nearest], kin, meant, middle, rank)

    def _middle(self, stretch: Sequence[Turn]) -> Vector:
        """The direction the user's words in a stretch share."""
        key = (stretch[0].steps[0], len(stretch))
        if key not in self._middles:
            self._middles[key] = centroid(self._words(self._told(turn)) for turn in stretch if turn.said)
        return self._middles[key]

    def told(self, turns: Sequence[Turn]) -> Mapping[int, str]:
        """Of each turn, by its first step, its words less what a branch turned away from with them."""
        return {turn.steps[0]: self._told(turn) for turn in turns}

    def alike(self, text: str, turn: Turn) -> float:
        """How near a text is to one turn."""
        return self._alike(text, turn)

    def _alike(self, text: str, turn: Turn) -> float:
        vector = self._words(text)
        said = cosine(vector, self._words(self._told(turn)))
        reply = cosine(vector, self._words(turn.reply[:_READ])) if turn.reply else 0.0
        return max(said, 0.6 * reply, 0.8 * said + 0.3 * reply)

    def _told(self, turn: Turn) -> str:
        """A turn's words, less what a branch turned away from with them."""
        return pattern("message.gives_up").sub(" ", turn.said) if turn.steps[0] in self._forks else turn.said

    def _words(self, text: str) -> Vector:
        if text not in self._weighed:
            self._weighed[text] = self._vocabulary.weighed(_counted(text))
        return self._weighed[text]

    def _cover(self, text: str, stretch: Sequence[Turn]) -> tuple[float, float]:
        """The share of a text's telling words, the rarer the more, that a stretch has used; and of those, the share nothing else has."""
        asked = telling(text)
        if not asked:
            return 0.0, 0.0
        said = {word for turn in stretch for word in telling(turn.said)} | self._left.get(
            stretch[0].steps[0], frozenset()
        )
        replied = {word: share for turn in stretch for word, share in dwelt(turn.reply).items()}
        repeated = self._repeated.get(stretch[0].steps[0], frozenset())
        many = len(self._stretches) + 1
        weights = {word: 0.3 + log(many / (1 + self._holders.get(word, 0) * 0.5)) for word in asked}
        total = sum(weights.values())
        found = own = 0.0
        for word, weight in weights.items():
            share = (1.0 if word in said else _REPLY * replied.get(word, 0.0)) * (_AGAIN if word in repeated else 1.0)
            found += share * weight
            own += share * weight * (self._holders.get(word, 0) <= 1)
        return found / total, own / total

    def _meant(self, text: str, stretch: Sequence[Turn]) -> tuple[float, float, float]:
        """How near by the encoder to the turns that are nearest and to the middle of all, and where the first stands among the likenesses of this
        dialogue's turns; nothing without one.
        """
        vectors = [self._vector(turn.said) for turn in stretch if turn.said] if self._encoder is not None else []
        if not vectors:
            return 0.0, 0.0, 0.0
        vector = self._vector(text)
        found = sorted((_dot(vector, each) for each in vectors), reverse=True)
        top = 0.7 * found[0] + 0.3 * sum(found[:3]) / len(found[:3])
        summed = [sum(values) for values in zip(*vectors, strict=True)]
        middle = _dot(vector, summed) / (sqrt(_dot(summed, summed)) or 1.0)
        return max(top, 0.0), max(middle, 0.0), self._rank(top)

    def _rank(self, value: float) -> float:
        seen = self._seen
        return (bisect_left(seen, value) + bisect_right(seen, value)) / (2 * len(seen)) if len(seen) >= _ENOUGH else 0.5

    def _encoded(self) -> dict[str, Sequence[float]]:
        texts = list({turn.said[:_READ] for stretch in self._stretches for turn in stretch})
        return dict(zip(texts, self._encoder.encode(texts), strict=True)) if self._encoder is not None else {}

    def _vector(self, text: str) -> Sequence[float]:
        key = text[:_READ]
        if key not in self._vectors and self._encoder is not None:
            self._vectors[key] = self._encoder.encode([key])[0]
        return self._vectors[key]

    def _pairs(self) -> list[float]:
        """The cosines between the turns of this dialogue: what is high and what is low for this encoder and these words."""
        if self._encoder is None:
            return []
        texts = list(self._vectors.values())[-_SAMPLE:]
        return sorted(_dot(one, other) for at, one in enumerate(texts) for other in texts[:at])


_ENOUGH = 6
"""Likenesses below which a dialogue has not shown what is high."""
_SAMPLE = 60
"""Turns whose cosines a dialogue is calibrated by."""


def _repeated(
    topics: Sequence[Sequence[Sequence[Turn]]],
) -> tuple[dict[int, frozenset[str]], dict[int, frozenset[str]]]:
    """Of each limb, by its first step, the words that an older limb of its topic had used before, or that it turned away from ("instead of …"); and of
    each topic's oldest limb those that younger ones turned away from.
    """
    found: dict[int, frozenset[str]] = {}
    left: dict[int, frozenset[str]] = {}
    for limbs in (tuple(filter(None, limbs)) for limbs in topics):
        known: set[str] = set()
        for stretch in limbs:
            own = {word for turn in stretch for word in telling(turn.said)}
            given_up = (
                {
                    word
                    for part in pattern("message.gives_up").findall(stretch[0].said[:_READ])
                    for word in telling(" ".join(part))
                }
                if stretch is not limbs[0]
                else set()
            )
            found[stretch[0].steps[0]] = frozenset((own & known) | given_up)
            known |= own
            oldest = limbs[0][0].steps[0]
            left[oldest] = left.get(oldest, frozenset()) | given_up
    return found, left


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def _summed(stretch: Sequence[Turn]) -> Mapping[str, float]:
    """The fields of a stretch: each turn's, the user's words before the replies."""
    total: dict[str, float] = {}
    for turn in stretch:
        for text, weight in ((turn.said, 1.0), (turn.reply[:_READ], 0.35)):
            for field, share in fields_of(text).items():
                total[field] = total.get(field, 0.0) + weight * share
    return total
