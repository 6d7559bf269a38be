"""Six features, one formula; BM25."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from ctxfold.log.lines import Line
from ctxfold.select.pieces import Piece, shape_of

_SOON = 1.2
"""How soon more repeats of a word stop counting: the customary k1."""
_BACKWARDS = 0.75
"""Of what goes forwards: an answer stands after its subject more often than before it."""


class BM25:
    """An index over documents given as word lists, in their order. It grows by `add`; nothing leaves it.

    Args:
        documents: one sequence of words each, as `words` gives them.
        b: how much a long document is held against it, 0 (not) to 1 (in full).
    """

    def __init__(self, documents: Iterable[Sequence[str]] = (), b: float = 0.75) -> None:
        self._b = b
        self._lengths: list[int] = []
        self._total = 0
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for document in documents:
            self.add(document)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, document: Sequence[str]) -> int:
        """Takes one more document in, after the others."""
        index = len(self._lengths)
        postings = self._postings
        for word, times in Counter(document).items():
            held = postings.get(word)
            if held is None:
                postings[word] = [(index, times)]
            else:
                held.append((index, times))
        self._lengths.append(len(document))
        self._total += len(document)
        return index

    def scores(self, query: Iterable[str] | Mapping[str, float], neighbours: float = 0.0) -> list[float]:
        """How well each document fits a query.

        Args:
            query: its words, as `query_words` gives them; a word given twice counts once. Or what each counts, as `query_weights` says.
            neighbours: for sentences in text order, the share of its score that each passes on to the next, which passes the same share of
                that on, and so forth; three quarters of it go to the one before. From 0, the plain score, to below 1.

        Returns:
            One score a document, in order. Without the bonus it is 0.0 where no word of the query stands; with it, where none stands
            anywhere.
        """
        lengths = self._lengths
        found = [0.0] * len(lengths)
        mean = self._total / len(lengths) if self._total else 1.0
        base, slope = _SOON * (1 - self._b), _SOON * self._b / mean
        shares = query if isinstance(query, Mapping) else dict.fromkeys(query, 1.0)
        for word, share in shares.items():
            held = self._postings.get(word, ())
            weight = share * self.rarity(word) * (_SOON + 1)
            for index, times in held:
                found[index] += weight * times / (times + base + slope * lengths[index])
        return _with_neighbours(found, neighbours) if neighbours else found

    def rarity(self, word: str) -> float:
        """The idf of a word: near 0 when every document holds it, higher the fewer do."""
        holders = len(self._postings.get(word, ()))
        return log(1 + (len(self._lengths) - holders + 0.5) / (holders + 0.5))


def _with_neighbours(found: list[float], share: float) -> list[float]:
    """Each score with what its neighbours pass on, forwards and backwards; linear in their number however far it reaches."""
    lifted = found[:]
    for order, passed in ((range(len(found)), share), (range(len(found) - 1, -1, -1), share * _BACKWARDS)):
        carried = 0.0
        for at in order:
            lifted[at] += carried
            carried = (carried + found[at]) * passed
    return lifted


_NUMBER = re.compile(r"[\d.,:$€£¥%+-]+")

_LONGEST_ID, _MANY = 120, 5
"""Characters that an id has at most, and digits from which a number is one."""
_AGAIN = (1.0, 0.25, 0.06)
"""What a value is worth where it stands nowhere yet, once, more often."""
_SPOKEN = 3.0
"""How much more a value is worth where the user or a finding names it."""
_WORD, _REPLY, _NEAR = 0.03, 0.2, 0.3
"""What a word that is told for the first time is worth: any, one of the user's, of a finding's or of the last that the assistant said to a request, one of
what the session is about.
"""

_ASKED = 3.0
"""What a piece of a page is worth for each word of the page's call that it alone holds."""

_ODD = 0.05
"""What a line of a document is worth for each bit by which its shape is rarer than others in it."""


class Worth:
    """What the pieces of some lines are worth beside what is taken already."""

    def __init__(
        self,
        lines: Sequence[Line],
        steps: Sequence[int],
        pieces: Sequence[Sequence[Piece]],
        query: frozenset[str],
        asked: Mapping[int, Mapping[int, float]],
    ) -> None:
        self.lines, self.query, self._asked = lines, query, asked
        self._replies = _replies(lines)
        self._alike = [_alike(line, each) for line, each in zip(lines, pieces, strict=True)]
        self._covered: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        uses = _Uses()
        for line, step, each in zip(lines, steps, pieces, strict=True):
            uses.see(line, step, each)
        self._values = uses.worth(steps[-1] + 1 if steps else 1)
        self._words = {word: 1 / (1 + math.log(count)) for word, count in uses.words.items()}
        self._scarce = 1 + _document_share(lines)

    def of(self, line: int, place: int, piece: Piece) -> float:
        """What a piece adds to what is taken."""
        gain = words = 0.0
        spoken = self.lines[line].kind in ("user", "note")
        for value, name in piece.values:
            gain += self._values[value] * _AGAIN[min(self._covered[_fact(value, name)], 2)] * (_SPOKEN if spoken else 1)
        plain = 0.0 if self.lines[line].is_document else _REPLY if spoken or line in self._replies else _WORD
        for word in piece.words:
            near = max(_NEAR, plain) if word in self.query else plain
            words += self._words[word] * near * _AGAIN[min(self._told[word], 2)]
        gain += words if self.lines[line].is_document else words * self._scarce
        if self.lines[line].is_document:
            gain = gain * self._alike[line][place].share + _ODD * self._alike[line][place].surprise
        return gain + _ASKED * self._asked.get(line, {}).get(place, 0.0)

    def take(self, piece: Piece) -> None:
        """Count what a piece tells as told."""
        self._covered.update([_fact(value, name) for value, name in piece.values])
        self._told.update(piece.words)


class _Uses:
    """How often, when and under which names values stand, and what named them again."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self._times: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._used: dict[str, int] = {}
        self._names: dict[str, set[str]] = {}
        self._asked: set[str] = set()
        self._stated: set[str] = set()
        self._given: set[str] = set()

    def see(self, line: Line, step: int, pieces: Sequence[Piece]) -> None:
        """Count the values and words of a line."""
        for piece in pieces:
            self.words.update(piece.words)
            for value, name in piece.values:
                if self._newest.get(value) != step:
                    self._times[value] += 1
                if self._first.setdefault(value, step) != step and line.kind in ("call", "user", "say"):
                    self._used[value] = step
                self._newest[value] = step
                if name:
                    self._names.setdefault(value, set()).add(name)
                if not line.is_document:
                    self._stated.add(value)
                if line.kind == "call":
                    self._asked.update((name, value))
                else:
                    self._given.add(value)

    def worth(self, last: int) -> dict[str, float]:
        """What each value is worth at the end of the path."""
        seen = Counter(name for each in self._names.values() for name in each)
        named = Counter(name for value, each in self._names.items() if value in self._used for name in each)
        names = {name: _evidence(name, seen, named, self._asked) for name in seen}
        return {
            value: _shape(value)
            * _rarity(value, self._times[value])
            * self._demand(value, last)
            * (0.55 + 0.45 * math.exp((self._newest[value] - last) / 40))
            * max((names[name] for name in self._names.get(value, ())), default=1.0)
            for value in self._first
        }

    def _demand(self, value: str, last: int) -> float:
        """More where something named a value since, the later the more; an id that was given and that nothing has named is open; what stands in
        documents alone is needed while the work is on them.
        """
        if value not in self._stated:
            return 0.05 + 0.6 * math.exp((self._newest[value] - last) / 8)
        if value in self._used:
            return 1 + 1.5 * math.exp((self._used[value] - last) / 25)
        return 1.3 if value in self._given and is_id(value) else 0.6


def _fact(value: str, name: str) -> str:
    """What a value tells: an id by itself, anything else of what it is said of."""
    return value if not name or is_id(value) else f"{name}={value}"


@lru_cache(maxsize=65_536)
def is_id(value: str) -> bool:
    """Whether a value is built as what names one thing or counts it exactly: letters with digits, joined parts, many digits, with a unit or without; no
    other blank in it.
    """
    value = _amount(value)
    if " " in value or len(value) > _LONGEST_ID:
        return False
    digits = sum(map(str.isdigit, value))
    return (
        "@" in value or "/" in value or "_" in value or digits >= _MANY or (0 < digits < len(value.strip("$€£¥%.,:")))
    )


def _amount(value: str) -> str:
    """The number of a number with its unit; anything else as it is."""
    parts = value.split(" ")
    return next((part for part in parts if _NUMBER.fullmatch(part)), value) if len(parts) == 2 else value


@lru_cache(maxsize=65_536)
def _shape(value: str) -> float:
    """How likely a value of this build is to be needed letter by letter."""
    if len(value) < 2:
        return 0.05
    if is_id(value):
        return 1.0
    if _NUMBER.fullmatch(value):
        return 0.35 if len(value) > 2 else 0.1
    return 0.3


class _Alike(NamedTuple):
    """What a line of a document tells by standing among others.

    Attributes:
        share: what is left of its worth where others are alike: together they tell little more than a few of them.
        surprise: bits by which its shape is rarer than the document's shapes are on average.
    """

    share: float
    surprise: float


def _alike(line: Line, pieces: Sequence[Piece]) -> list[_Alike]:
    """Of each piece of a document what it tells by its shape; nothing for another line."""
    if not line.is_document:
        return []
    shapes = [shape_of(piece.text) for piece in pieces]
    times = Counter(shapes)
    bits = {shape: math.log2(len(shapes) / count) for shape, count in times.items()}
    mean = sum(bits[shape] for shape in shapes) / len(shapes) if shapes else 0.0
    return [_Alike(1 / math.sqrt(times[shape]), max(0.0, bits[shape] - mean)) for shape in shapes]


def _document_share(lines: Sequence[Line]) -> float:
    """The share that documents have in lines: the less is said beside them, the more each word of it tells."""
    return sum(line.tokens for line in lines if line.is_document) / max(sum(line.tokens for line in lines), 1)


def _evidence(name: str, seen: Counter[str], named: Counter[str], asked: set[str]) -> float:
    """How often values under a name were named again, and whether calls have an argument of that name or asked for it, as a schema does."""
    return 0.2 + 1.4 * ((4 + named[name]) / (8 + seen[name]) + 0.5 * (name in asked))


def _replies(lines: Sequence[Line]) -> frozenset[int]:
    """The places of what the assistant said last before the user spoke again: it tells what came of the request."""
    found: set[int] = set()
    ending = True
    for at in reversed(range(len(lines))):
        kind = lines[at].kind
        if kind == "say" and ending:
            found.add(at)
        if kind in ("user", "call"):
            ending = kind == "user"
    return frozenset(found)


def _rarity(value: str, times: int) -> float:
    """What repetition leaves of a value's worth: little of a plain word's, more of an id's, which is what is acted on."""
    return 0.35 + 0.65 / math.sqrt(times) if is_id(value) else 1 / times
