"""Greedy choice of pieces under a budget."""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate

from ctxfold.select.pieces import Piece, pieces_of_prose
from ctxfold.select.score import LOG, PAGE, Weights, Worth, score
from ctxfold.text.sentences import Span
from ctxfold.text.words import words
from ctxfold.tokens import count, head

_TRIES = 4
"""How often more is chosen where the written text costs less than its pieces."""
_NEAR = 0.015
"""The share of a room that may be left over."""
_ANY = 1e-6
"""What any piece is worth while there is room: the newest before the oldest."""


class Choice:
    """A choice of the pieces worth most for their tokens; it grows.

    Args:
        pieces: the pieces, in text order.
        query: the question or task of the reader.
        standing: places of pieces that are shown whatever is chosen; they cost nothing, and nothing that they say is
            new.
        among: the places that may be chosen; None for all.
        weights: the numbers of the formula.

    Attributes:
        order: the chosen places, in the order of choice. A piece comes after all that it needs.
        spent: o200k tokens of the chosen pieces.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        query: str = "",
        *,
        standing: Collection[int] = (),
        among: Iterable[int] | None = None,
        weights: Weights = LOG,
    ) -> None:
        self._pieces = pieces
        places = range(len(pieces)) if among is None else among
        self._among = [place for place in places if pieces[place].kind != "head"]
        self._worth = Worth(pieces, query, weights)
        self._shown = bytearray(len(pieces))
        self.order: list[int] = []
        self.spent = 0
        for place in standing:
            self._show(place)

    def fit(self, room: int, cost: Callable[[Sequence[int]], int]) -> list[int]:
        """Choose more pieces, until all that are chosen cost as much as a room where they are written.

        Args:
            room: the most o200k tokens.
            cost: gives the o200k tokens of places as they are written.

        Returns:
            A beginning of the order that fits the room.
        """
        for _ in range(_TRIES):
            spare = room - cost(self.order)
            if spare <= _NEAR * room or not self.fill(self.spent + spare):
                break
        sums = [*accumulate(self._pieces[place].tokens for place in self.order)]
        end = len(sums)
        while end and (tokens := cost(self.order[:end])) > room:
            end = min(end - 1, bisect_right(sums, sums[end - 1] * room / tokens))
        return self.order[:end]

    def fill(self, budget: int, among: Iterable[int] | None = None) -> bool:
        """Choose more pieces, until all that are chosen cost as much as a budget.

        Args:
            budget: the most o200k tokens of all chosen pieces.
            among: the places that may be chosen; None for all.

        Returns:
            Whether any was chosen.
        """
        before = len(self.order)
        places = self._among if among is None else among
        heap = [(-self._rate(place, self._find_missing(place)), place) for place in places if not self._shown[place]]
        heapq.heapify(heap)
        while heap:
            _, place = heapq.heappop(heap)
            if self._shown[place]:
                continue
            missing = self._find_missing(place)
            if self.spent + sum(self._pieces[each].tokens for each in missing) > budget:
                continue
            rate = self._rate(place, missing)
            if heap and rate < -heap[0][0] - 1e-9:
                heapq.heappush(heap, (-rate, place))
                continue
            for each in missing:
                self._show(each)
                self.spent += self._pieces[each].tokens
                self.order.append(each)
        return len(self.order) > before

    def _find_missing(self, place: int) -> list[int]:
        """A piece, after all that it cannot be read without and that is not shown."""
        return [each for each in (*self._pieces[place].under, place) if not self._shown[each]]

    def _rate(self, place: int, missing: Sequence[int]) -> float:
        """The worth of a piece for each token of it and of the pieces that it needs."""
        cost = sum(self._pieces[each].tokens for each in missing)
        return (self._worth.of(place) + _ANY / (1 + self._pieces[place].age)) / max(cost, 1)

    def _show(self, place: int) -> None:
        if not self._shown[place]:
            self._shown[place] = 1
            self._worth.show(place)


_FAINT = 0.1
"""A sentence worth less than this share of the best is left out, even if there is room for it."""


def find_excerpts(text: str, query: str, budget: int) -> list[Span]:
    """Find the sentences and lines of a text that say most about a query.

    Args:
        text: any text.
        query: the question or task of the reader.
        budget: the most o200k tokens of the excerpts, one below the other.

    Returns:
        Spans in text order; the head of the text where it holds no word of the query, and none where not a word fits.
    """
    pieces = pieces_of_prose(text)
    worths = score(pieces, query, PAGE)
    best = max(worths, default=0.0)
    choice = Choice(pieces, query, weights=PAGE)
    for least in (0.999 * best, _FAINT * best):
        choice.fill(budget + 1, [place for place, worth in enumerate(worths) if worth > least])
    chosen = sorted(choice.order)
    if not chosen:
        end = len(head(text, budget).rstrip())
        return [Span(0, end)] if end else []
    spans: list[Span] = []
    for place in chosen:
        span = pieces[place].span
        between = text[spans[-1].end : span.start] if spans else ""
        if spans and not between.strip() and count(between) <= 1:  # room was kept for one token
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return spans


_AROUND = 1_000
"""Characters before and after a word in which a long line is judged."""
_PLACES = 64
"""Places in one long line that are judged."""


def find_best_line(lines: Sequence[str], wanted: frozenset[str]) -> tuple[int, int]:
    """Find the line that holds most of some words.

    Returns its number, from 0, and the place in it around which they are; 0 and 0 where no line holds any.
    """
    if not wanted:
        return 0, 0
    some = re.compile("|".join(map(re.escape, sorted(wanted, key=lambda word: (-len(word), word)))))
    best, most = (0, 0), 0
    for at, line in enumerate(lines):
        for found, _ in zip(some.finditer(line.lower()), range(_PLACES), strict=False):
            place = found.start()
            held = len(wanted.intersection(words(line[max(0, place - _AROUND) : place + _AROUND])))
            if held > most:
                best, most = (at, place), held
            if len(line) <= _AROUND:
                break
    return best
