"""Scores pieces: six features, one formula, twelve numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from ctxfold.select.pieces import Piece, values_in
from ctxfold.text.words import query_words

_NUMBER = re.compile(r"[\d.,:$€£¥%+-]+")
_BACKWARDS = 0.75
"""The share of `carry` that passes to the piece before: an answer follows its subject more often than the reverse."""
_ASKED = 64
"""Words of a query that are looked for in a long text."""
_LONGEST_ID, _MANY = 120, 5
"""Characters that an id has at most, and digits from which a number is one."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The numbers of the formula. Figures: recall, bound recall, recall of distant values, by later calls.

    Attributes:
        id: worth of a value that is built as an id.
        plain: worth of any other value.
        fade: steps in which the extra worth of a new piece, and of a new use of a value, falls to a third.
        open: demand for an id that nothing has named yet; 1 for any other value without a use, 2 for one used just now.
        document: demand for a value that only documents hold.
        word: worth of a word.
        near: worth of a word of the query, and of a word of its own call in a line of a page or document.
        again: share that is left of the worth of a value or word each time that it is shown.
        odd: worth of a document's line for each bit by which its shape is rarer than the others.
        prior: values under a name from which demand is judged by how many of them were named again.
        spoken: how much more everything is worth that the user or a finding says.
        carry: share of a piece's worth that passes to the next piece, and on.
    """

    id: float = 1
    plain: float = 0.3  # 20 airline sessions joined at 4,000: .938/.935, 1 .935/.929; telecom at a quarter .984, .969
    fade: float = 12  # joined: .938/.935/.857, without .899/.888/.804
    open: float = 2  # joined: .941/.938/.875, with 1 .923/.920/.750
    document: float = 0.3  # coding session at 20,000: .995/.977/.980, with 1 .982/.965/.931
    word: float = 0.03  # arguments of later calls do not show it; without it sentences without values are chosen by age
    near: float = 1  # 24 pages: 64 of 64 facts that calls asked for stay in view, with .3 37; joined .941/.938/.839
    again: float = 0.25  # airline at a quarter: .958/.953/.870, with 1 .910/.910/.685
    odd: float = 0.05  # a coding session at 20,000: .941/.892/.859, without .939/.891/.854; a log's odd line is lost
    prior: float = 8  # every value of the user's, as below; telecom at a quarter .984, without .969
    spoken: float = 3  # every value of the user's is in a view of 2,000 after 25 turns; with 1 more than one is lost
    carry: float = 0


LOG = Weights()
"""The weights for views and results."""
PAGE = Weights(id=0, plain=0, fade=1, open=1, document=1, word=0, near=1, again=1, odd=0, prior=1, spoken=1, carry=0.8)
"""The weights for texts read with a question: only its words count. Questions about a FAQ and guides chose `carry`."""


class Worth:
    """The worth of each piece: freshness x (values + words + oddness of shape), less for all that is shown already."""

    def __init__(self, pieces: Sequence[Piece], query: str, weights: Weights) -> None:
        self._novelty = [weights.again**times for times in range(3)]
        self._shown: dict[str, int] = {}
        values, words = _weigh_values(pieces, query, weights), _weigh_words(pieces, query, weights)
        asked = _weigh_asked(pieces)
        self._terms: list[tuple[list[tuple[str, float]], float]] = []
        for place, piece in enumerate(pieces):
            fresh = 1 + math.exp(-piece.age / weights.fade)
            fresh *= weights.spoken if piece.kind in ("user", "note") else 1
            share = piece.share * fresh
            terms = [(_name_fact(value, name), values[value] * share) for value, name in piece.values]
            terms += [(word, words[word] * share) for word in piece.words]
            self._terms.append((terms, weights.odd * piece.odd * fresh + weights.near * asked.get(place, 0.0)))
        self._lifts = _lift_neighbours([self._sum(place) for place in range(len(pieces))], weights.carry)

    def of(self, place: int) -> float:
        """What a piece adds now."""
        return self._sum(place) + self._lifts[place]

    def _sum(self, place: int) -> float:
        terms, odd = self._terms[place]
        times, novelty = self._shown.get, self._novelty
        return odd + sum([worth * novelty[times(key, 0)] for key, worth in terms])

    def show(self, place: int) -> None:
        """Count the values and words of a piece as shown."""
        for key, _ in self._terms[place][0]:
            self._shown[key] = min(self._shown.get(key, 0) + 1, 2)


def _lift_neighbours(worths: Sequence[float], share: float) -> list[float]:
    """The worth that passes to each piece from those before and after it."""
    lifts = [0.0] * len(worths)
    forwards, backwards = range(len(worths)), range(len(worths) - 1, -1, -1)
    for order, passed in ((forwards, share), (backwards, share * _BACKWARDS)) if share else ():
        carried = 0.0
        for place in order:
            lifts[place] += carried
            carried = (carried + worths[place]) * passed
    return lifts


def score(pieces: Sequence[Piece], query: str = "", weights: Weights = LOG) -> list[float]:
    """What each piece is worth alone, by the formula, while nothing is shown."""
    worth = Worth(pieces, query, weights)
    return [worth.of(place) for place in range(len(pieces))]


def _weigh_words(pieces: Sequence[Piece], query: str, weights: Weights) -> dict[str, float]:
    """Rarity x nearness of each word."""
    near = frozenset(query_words(query))
    times = Counter(chain.from_iterable(piece.words for piece in pieces))
    return {
        word: (weights.near if word in near else weights.word) / (1 + math.log(count)) for word, count in times.items()
    }


def _weigh_values(pieces: Sequence[Piece], query: str, weights: Weights) -> dict[str, float]:
    """Rarity x demand of each value, by what calls and messages after it name."""
    times: Counter[str] = Counter()
    first: dict[str, int] = {}
    newest: dict[str, int] = {}
    used = dict.fromkeys(values_in(query), 0)
    names: dict[str, set[str]] = {}
    stated: set[str] = set()
    given: set[str] = set()
    asked: set[str] = set()
    for piece in pieces:
        for value, name in piece.values:
            if newest.get(value) != piece.age:
                times[value] += 1
            newest[value] = piece.age
            if first.setdefault(value, piece.age) != piece.age and piece.kind in ("call", "user", "say"):
                used[value] = piece.age
            if name:
                names.setdefault(value, set()).add(name)
            if piece.kind != "text" and not (piece.kind == "call" and piece.group):  # no line of a document
                stated.add(value)
            if piece.kind == "call":
                asked.add(name)
            else:
                given.add(value)

    seen = Counter(name for each in names.values() for name in each)
    named = Counter(name for value in used for name in names.get(value, ()))
    evidence = {
        name: (weights.prior + 2 * named[name]) / (weights.prior + seen[name]) + (name in asked) for name in seen
    }

    def demand(value: str) -> float:
        if value not in stated:
            return weights.document
        if value in used:
            return 1 + math.exp(-used[value] / weights.fade)
        return weights.open if value in given and is_id(value) else 1

    return {
        value: (weights.id if is_id(value) else weights.plain)
        / math.sqrt(times[value])
        * demand(value)
        * max((evidence[name] for name in names.get(value, ())), default=1.0)
        for value in first
    }


def _weigh_asked(pieces: Sequence[Piece]) -> dict[int, float]:
    """For the pieces under a heading of a page the words of its call in them; a word that others hold too counts in
    part.
    """
    asked: dict[int, set[str]] = {}
    for place, piece in enumerate(pieces):
        above = [pieces[each] for each in piece.under] if piece.kind == "text" and piece.words else []
        if any(each.kind == "text" for each in above):
            called = chain.from_iterable(each.words for each in above if each.kind == "call")
            asked[place] = set(piece.words).intersection(called)
    times = Counter((pieces[place].line, word) for place, words in asked.items() for word in words)
    return {place: sum(1 / times[pieces[place].line, word] for word in words) for place, words in asked.items()}


def find_promising(pieces: Sequence[Piece], query: str, budget: int, weights: Weights = LOG) -> list[int]:
    """Find the lines of a long text that are worth reading: those that the formula may choose, by a look at each.

    A varying part counts as a value, and a word of the query wherever its letters are.

    Args:
        pieces: the lines, as `pieces_of_text` gives them.
        query: the question or task of the reader.
        budget: the most o200k tokens of the lines, roughly.
        weights: the numbers of the formula.

    Returns:
        Their places in text order.
    """
    near = [0.0] * len(pieces)
    texts = [piece.text.lower() for piece in pieces]
    for word in query_words(query)[:_ASKED]:
        holders = [place for place, text in enumerate(texts) if word in text]
        for place in holders:
            near[place] += weights.near / (1 + math.log(len(holders)))

    def rate(place: int) -> float:
        piece = pieces[place]
        values = weights.id * weights.document * piece.group.count("#")
        return ((values + near[place]) * piece.share + weights.odd * piece.odd) / piece.tokens

    promising: list[int] = []
    for place in sorted(range(len(pieces)), key=lambda place: (-rate(place), place)):
        budget -= pieces[place].tokens
        if budget < 0:
            break
        promising.append(place)
    return sorted(promising)


def _name_fact(value: str, name: str) -> str:
    """The fact in a value: an id alone, any other value with its name."""
    return value if not name or is_id(value) else f"{name}={value}"


@lru_cache(maxsize=65_536)
def is_id(value: str) -> bool:
    """Whether a value is built as what names one thing or counts it exactly: letters with digits, joined parts, many
    digits.
    """
    parts = value.split(" ")
    if len(parts) == 2:  # a number with its unit
        value = next((part for part in parts if _NUMBER.fullmatch(part)), value)
    if " " in value or len(value) > _LONGEST_ID:
        return False
    digits = sum(map(str.isdigit, value))
    joined = "@" in value or "/" in value or "_" in value
    return joined or digits >= _MANY or 0 < digits < len(value.strip("$€£¥%.,:"))


_SOON = 1.2
"""How soon more repeats of a word stop counting: the customary k1."""


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

    def add(self, document: Sequence[str]) -> int:
        """Add a document after the others. Returns its place."""
        index = len(self._lengths)
        for word, times in Counter(document).items():
            self._postings.setdefault(word, []).append((index, times))
        self._lengths.append(len(document))
        self._total += len(document)
        return index

    def scores(self, query: Mapping[str, float]) -> list[float]:
        """How well each document fits the weighted words of a query, in order; 0.0 for one without a word of it."""
        lengths = self._lengths
        found = [0.0] * len(lengths)
        mean = self._total / len(lengths) if self._total else 1.0
        base, slope = _SOON * (1 - self._b), _SOON * self._b / mean
        for word, share in query.items():
            weight = share * self.rarity(word) * (_SOON + 1)
            for index, times in self._postings.get(word, ()):
                found[index] += weight * times / (times + base + slope * lengths[index])
        return found

    def rarity(self, word: str) -> float:
        """The idf of a word: near 0 when every document holds it, higher the fewer do."""
        holders = len(self._postings.get(word, ()))
        return math.log(1 + (len(self._lengths) - holders + 0.5) / (holders + 0.5))
