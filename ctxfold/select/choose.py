"""Greedy choice under a budget."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ctxfold.select import HEAD, Chosen, Stretch
from ctxfold.select.pieces import Piece, above, asked_of, columns_of, headings, pieces_of, short_answers
from ctxfold.select.score import BM25, Worth
from ctxfold.text.sentences import Span, sentences
from ctxfold.text.words import query_weights, words
from ctxfold.tokens import count, head

_AROUND = 1_000
"""Characters before and behind a word in which a long line is judged."""
_PLACES = 64
"""Places in one long line that are judged."""
_MANY = 400_000
"""Characters of all lines from which those that do not hold a word letter by letter are passed over."""


def best_line(lines: Sequence[str], wanted: frozenset[str]) -> tuple[int, int]:
    """The line that holds most of some words, the first of several. Returns its number, from 0, and the place in it round which they stand; 0 and 0 where no line holds any."""
    if not wanted:
        return 0, 0
    some = re.compile("|".join(map(re.escape, sorted(wanted, key=lambda word: (-len(word), word)))))
    sifted = sum(map(len, lines)) > _MANY
    best, place, most = 0, 0, 0
    for at, line in enumerate(lines):
        low = line.lower()
        if sifted and some.search(low) is None:
            continue
        overlap, where = _count_held(line, low, some, wanted)
        if overlap > most:
            best, place, most = at, where, overlap
    return best, place


def _count_held(line: str, low: str, some: re.Pattern[str], wanted: frozenset[str]) -> tuple[int, int]:
    """How many of the words a line, or the best stretch of a long one, holds; and the place of the first of them there."""
    if len(line) <= 2 * _AROUND:
        first = some.search(low)
        return len(wanted & set(words(line))), first.start() if first else 0
    places = [found.start() for _, found in zip(range(_PLACES), some.finditer(low), strict=False)]
    judged = ((len(wanted & set(words(line[max(0, at - _AROUND) : at + _AROUND]))), -at) for at in places)
    most, at = max(judged, default=(0, 0))
    return most, -at


_NEIGHBOURS = 0.8
"""Measured on questions of a FAQ and on section titles of how-to guides: less keeps hits without what explains them."""

_FAINT = 0.1
"""What scores below this share of the best is left out even where it would fit: room is no reason to keep what says nothing."""

_LENGTH_PENALTY = 0.4
"""Sentences are short already: the customary 0.75 would favour fragments."""

_GAP = 80
"""Two kept sentences with at most this much white space between them become one span, white space included."""

_MISFITS = 40
"""After so many sentences in a row that no longer fit, the rest is not tried."""


def select(text: str, query: str, budget: int) -> tuple[Span, ...]:
    """The sentences and lines of a text that say most about a query, within a budget. `budget`: o200k tokens of the slices, joined by newlines.

    Returns:
        Spans in text order, none overlapping; empty when not even a word fits. When no word of the query stands in the text, its
        head.
    """
    units = sentences(text)
    index = BM25((words(unit.of(text)) for unit in units), b=_LENGTH_PENALTY)
    chosen = _fitting(text, units, _ranked(index, query_weights(query)), budget)
    if not chosen:
        end = len(head(text, budget).rstrip())
        return (Span(0, end),) if end else ()
    return _within(text, units, chosen, budget)


def _ranked(index: BM25, query: Mapping[str, float]) -> list[int]:
    """Units by score with their neighbours' bonus, behind the one that fits the query best all by itself."""
    own = index.scores(query)
    lifted = index.scores(query, neighbours=_NEIGHBOURS)
    least = max(lifted, default=0.0) * _FAINT
    ranked = sorted((at for at, score in enumerate(lifted) if score > least), key=lambda at: (-lifted[at], at))
    if ranked:
        best = max(range(len(own)), key=lambda at: (own[at], -at))
        ranked = [best, *(at for at in ranked if at != best)]
    return ranked


def _fitting(text: str, units: list[Span], ranked: list[int], budget: int) -> list[int]:
    """The best units whose costs add up to the budget, best first; what says the same as a better one is left out."""
    chosen: list[int] = []
    said: set[str] = set()
    room, misfits = budget, 0
    for at in ranked:
        plain = " ".join(units[at].of(text).split()).casefold()
        cost = 0 if plain in said else count(units[at].of(text)) + 1
        if cost and cost <= room + 1:
            chosen.append(at)
            said.add(plain)
            room, misfits = room - cost, 0
        else:
            misfits += 1
        if room < 2 or misfits >= _MISFITS:
            break
    return chosen


def _within(text: str, units: list[Span], chosen: list[int], budget: int) -> tuple[Span, ...]:
    """The chosen units as spans in text order; the worst are given up until the whole, counted together, fits."""
    for kept in range(len(chosen), 0, -1):
        spans = _joined(text, [units[at] for at in sorted(chosen[:kept])])
        if count("\n".join(span.of(text) for span in spans)) <= budget:
            return spans
    return ()


def _joined(text: str, units: list[Span]) -> tuple[Span, ...]:
    """Neighbouring units as one span where only a little white space is between them."""
    spans: list[Span] = []
    for unit in units:
        last = spans[-1] if spans else None
        if last is not None and unit.start - last.end <= _GAP and not text[last.end : unit.start].strip():
            spans[-1] = Span(last.start, unit.end)
        else:
            spans.append(unit)
    return tuple(spans)


_MARKER = 2
"""o200k tokens of what a line begins with."""
_FADE = 12
"""Steps in which a third is left of what a step is worth more for being near."""
_NEWEST, _MESSAGE = 0.25, 0.2
"""Of the room of the user's words, the share that goes to the newest, and the most that one message has."""
_BEYOND = 0.13
"""What is left of the worth of a message's words beyond that, outside the room."""
_ANY = 1e-6
"""What anything is worth while there is room: the newest before the oldest."""
_STEP = 4
"""o200k tokens of the address that a step begins with."""


class _Item(NamedTuple):
    """A piece with where it stands."""

    line: int
    place: int
    piece: Piece


def choose(stretch: Stretch, room: int, query: frozenset[str], words: int, findings: int = 0) -> Chosen:
    """Choose pieces within a room.

    Args:
        stretch: the lines.
        room: o200k tokens of what is chosen of the lines that do not stand whole.
        query: words of what the session is about now, lower case.
        words: o200k tokens that the user's words may take before anything else but findings: the newest first, then those worth most.
        findings: the same of findings, each whole, before the user's words.
    """
    return _Choice(stretch, query).made(room, words, findings)


class _Choice:
    def __init__(self, stretch: Stretch, query: frozenset[str]) -> None:
        self.stretch = stretch
        self.last = stretch.steps[-1] if stretch.steps else 0
        self.above = above(stretch.lines)
        self.pieces = [
            pieces_of(line, columns_of(stretch.lines, self.above[at])) for at, line in enumerate(stretch.lines)
        ]
        self.headings = [headings(line, each) for line, each in zip(stretch.lines, self.pieces, strict=True)]
        self.worth = Worth(
            stretch.lines,
            stretch.steps,
            self.pieces,
            query,
            asked_of(stretch.lines, self.above, self.pieces, self.headings),
        )
        self.answers = short_answers(stretch.lines, self.above, self.pieces)
        self.open = [at for at, whole in enumerate(stretch.whole) if not whole]
        self.kept: list[set[int]] = [set() for _ in stretch.lines]
        self.steps: set[int] = set()
        self.spent, self.words, self.spoken = 0, 0, Counter[int]()
        self.told: set[tuple[str, str]] = set()
        for at, whole in enumerate(stretch.whole):
            if whole:
                self.steps.add(stretch.steps[at])
                if self.pieces[at]:
                    self._keep(at, set(range(len(self.pieces[at]))))

    def made(self, room: int, words: int, findings: int) -> Chosen:
        """The choice."""
        self.words = words = min(words, room)
        self._take_findings(min(findings, room))
        newest = min(self.spent + _NEWEST * words, words)
        items = [_Item(line, place, piece) for line in self.open for place, piece in enumerate(self.pieces[line])]
        for item in sorted(items, key=lambda item: (-item.line, not item.piece.edge, item.place)):
            if self._is_spoken(item) and not self._is_repeat(item) and self.spent + self._price(item) <= newest:
                self._take(item)
        self._take_best(items, words, self._is_spoken)
        self._take_best(items, room, lambda _: True)
        return Chosen(tuple(tuple(sorted(each)) for each in self.kept), self.spent)

    def _take_best(self, items: Sequence[_Item], room: int, may: Callable[[_Item], bool]) -> None:
        """Those worth most for each token they cost, of those that may stand, as far as a room goes."""
        heap = [(-self._gain(item) / self._price(item), at) for at, item in enumerate(items) if may(item)]
        heapq.heapify(heap)
        while heap:
            _, at = heapq.heappop(heap)
            item = items[at]
            price = self._price(item)
            if item.place in self.kept[item.line] or self.spent + price > room or not may(item):
                continue
            rate = self._gain(item) / price
            if heap and rate < -heap[0][0] - 1e-9:
                heapq.heappush(heap, (-rate, at))
                continue
            self._take(item)

    def _is_spoken(self, item: _Item) -> bool:
        """Whether a piece is the user's, within the share of one message."""
        return self.stretch.lines[item.line].kind == "user" and self.spoken[item.line] < _MESSAGE * self.words

    def _is_repeat(self, item: _Item) -> bool:
        """Whether the same speaker's words stand already, word for word; what stands under a heading or an opener says something else under each."""
        kind = self.stretch.lines[item.line].kind
        under = self.headings[item.line] and self.headings[item.line][item.place]
        return kind in ("user", "say", "note") and not under and (kind, item.piece.text) in self.told

    def _take_findings(self, room: int) -> None:
        """The newest findings, as far as they fit a room whole."""
        for at in reversed(self.open):
            items = [_Item(at, place, piece) for place, piece in enumerate(self.pieces[at])]
            cost = sum(item.piece.tokens for item in items) + _MARKER + _STEP
            if self.stretch.lines[at].kind == "note" and self.spent + cost <= room:
                for item in items:
                    self._take(item)

    def _gain(self, item: _Item) -> float:
        gain = 0.0 if self._is_repeat(item) else self.worth.of(item.line, item.place, item.piece)
        gain += _ANY * (1 + self.stretch.steps[item.line])
        if self.stretch.lines[item.line].kind == "user" and not self._is_spoken(item):
            gain *= _BEYOND
        return gain * (1 + math.exp((self.stretch.steps[item.line] - self.last) / _FADE))

    def _price(self, item: _Item) -> int:
        """What a piece costs with what it cannot be read without, as far as that does not stand yet."""
        lines = self.stretch.lines
        price = item.piece.tokens
        for at in {item.line, *self.above[item.line]} & self.answers.keys():
            price += self.stretch.lines[self.answers[at]].tokens * (self.answers[at] != item.line)
        for at in self.above[item.line]:
            if not self.kept[at]:
                price += _MARKER + sum(self.pieces[at][place].tokens for place in self._subject(at))
        if not self.kept[item.line]:
            price += _MARKER + lines[item.line].depth // 2
        price += sum(self.pieces[item.line][place].tokens for place in self._missing(item))
        return price + _STEP * (self.stretch.steps[item.line] not in self.steps)

    def _take(self, item: _Item) -> None:
        price = self._price(item)
        self.spent += price
        self.spoken[item.line] += price
        for at in self.above[item.line]:
            if not self.kept[at]:
                self._keep(at, self._subject(at))
        self._keep(item.line, self._missing(item) | {item.place})
        self.kept[item.line].discard(HEAD)
        self.steps.add(self.stretch.steps[item.line])
        for at in {item.line, *self.above[item.line]} & self.answers.keys():
            self._keep(self.answers.pop(at), {0})

    def _keep(self, at: int, places: set[int]) -> None:
        self.kept[at].update(places or {HEAD})
        for place in places:
            self.worth.take(self.pieces[at][place])
            self.told.add((self.stretch.lines[at].kind, self.pieces[at][place].text))

    def _missing(self, item: _Item) -> set[int]:
        """What of its line a piece cannot be read without and does not stand: the line's subject, and the heading or the opener of the list it stands under."""
        needed = self._subject(item.line) if not self.kept[item.line] else set()
        if self.headings[item.line]:
            needed = needed | self.headings[item.line][item.place]
        return needed - self.kept[item.line] - {item.place}

    def _subject(self, at: int) -> set[int]:
        """What a line cannot be read without: the first cell of a call, of columns, and of a row that answers no call; the address a text begins with."""
        line = self.stretch.lines[at]
        named = (line.kind == "call" and not line.depth) or (line.kind == "text" and bool(self.headings[at]))
        bare = line.kind == "data" and (line.table != "none" or not self.above[at])
        return {0} if self.pieces[at] and (named or bare or len(self.pieces[at]) == 1) else set()
