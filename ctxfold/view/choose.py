"""Chooses which pieces of a stretch to show: those worth most for each token they cost.

What stands elsewhere in the view is worth little: weighted coverage under a budget, solved greedily.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ctxfold.view.headings import above, asked_of, columns_of, headings, short_answers
from ctxfold.view.pieces import Piece, pieces_of
from ctxfold.view.stretch import HEAD, Chosen, Stretch
from ctxfold.view.worth import Worth

__all__ = ["choose"]

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
