"""Chooses which pieces of a stretch to show: those with the most value for each token they cost.

Every value counts once, the more the rarer it is, and the more the likelier its kind: it was named by a later call or message, others under the same
name were, or it looks like an id and nothing has named it yet. What stands elsewhere in the view counts little. Weighted coverage under a budget,
solved greedily; no word of any language is known here.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ctxfold.log.lines import Line
from ctxfold.view.pieces import Piece, above, pieces_of

__all__ = ["HEAD", "Chosen", "Stretch", "choose"]

HEAD = -1
"""Stands among the places of a line of which nothing but its beginning is kept, for the sake of lines under it."""

_NUMBER = re.compile(r"[\d.,:$€£¥%+-]+")

_LONGEST_ID, _MANY = 120, 5
"""Characters that an id has at most, and digits from which a number is one."""
_AGAIN = (1.0, 0.25, 0.06)
"""What a value is worth where it stands nowhere yet, once, more often."""
_WORD = 0.03
_NEAR = 0.12
_EDGE = 0.25
_MARKER = 2
"""o200k tokens of what a line begins with."""
_SPOKEN, _BEYOND, _NEWEST = 3.0, 0.4, 2.0
"""How much more the user's words and findings are worth, how much less those of one message beyond its share; how much more the newest step is."""
_MESSAGE = 0.8
"""Of the room of the user's words, the share of one message."""
_ANY = 1e-6
"""What anything is worth while there is room: the newest before the oldest."""
_STEP = 4
"""o200k tokens of the address that a step begins with."""


@dataclass(frozen=True)
class Stretch:
    """Lines to choose from, in path order.

    Attributes:
        lines: all of them.
        steps: of each line the place on the path of the step it stands in, from 0.
        whole: of each whether it stands whole, whatever is chosen.
    """

    lines: Sequence[Line]
    steps: Sequence[int]
    whole: Sequence[bool]


@dataclass(frozen=True)
class Chosen:
    """What stands of each line: its pieces by their places, in order; and what that costs in o200k tokens."""

    kept: tuple[tuple[int, ...], ...]
    tokens: int


class _Item:
    """A piece with where it stands."""

    __slots__ = ("at", "line", "piece", "place")

    def __init__(self, line: int, place: int, piece: Piece, at: int) -> None:
        self.line, self.place, self.piece, self.at = line, place, piece, at


def choose(stretch: Stretch, room: int, query: frozenset[str], words: int, findings: int = 0) -> Chosen:
    """Choose pieces within a room.

    Args:
        stretch: the lines.
        room: o200k tokens of what is chosen of the lines that do not stand whole.
        query: words of what the session is about now, lower case.
        words: o200k tokens that the user's words may take before anything else but findings, newest first.
        findings: the same of findings, each whole, before the user's words.
    """
    return _Choice(stretch, query).made(room, words, findings)


class _Choice:
    def __init__(self, stretch: Stretch, query: frozenset[str]) -> None:
        self.stretch, self.query = stretch, query
        self.last = stretch.steps[-1] if stretch.steps else 0
        self.above = above(stretch.lines)
        self.pieces = [
            pieces_of(line, _columns(stretch.lines, self.above[at])) for at, line in enumerate(stretch.lines)
        ]
        self.open = [at for at, whole in enumerate(stretch.whole) if not whole]
        self.kept: list[set[int]] = [set() for _ in stretch.lines]
        self.steps: set[int] = set()
        self.covered: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.spent = self.words = 0
        self.spoken: Counter[int] = Counter()
        self._weigh()
        for at, whole in enumerate(stretch.whole):
            if whole:
                self.kept[at].update(range(len(self.pieces[at])))
                self.steps.add(stretch.steps[at])
                for piece in self.pieces[at]:
                    self._cover(piece)

    def _weigh(self) -> None:
        """What each value and word is worth."""
        last = self.last + 1
        times: Counter[str] = Counter()
        first: dict[str, int] = {}
        newest: dict[str, int] = {}
        used: dict[str, int] = {}
        names: dict[str, set[str]] = {}
        arguments: set[str] = set()
        spoken: Counter[str] = Counter()
        stated: set[str] = set()
        for line, at, pieces in zip(self.stretch.lines, self.stretch.steps, self.pieces, strict=True):
            for piece in pieces:
                spoken.update(piece.words)
                for value, name in piece.values:
                    if newest.get(value) != at:
                        times[value] += 1
                    if first.setdefault(value, at) != at and line.kind in ("call", "user", "say"):
                        used[value] = at
                    newest[value] = at
                    if name:
                        names.setdefault(value, set()).add(name)
                    if line.kind != "text":
                        stated.add(value)
                    if line.kind == "call":
                        arguments.add(name)
        seen: Counter[str] = Counter(name for each in names.values() for name in each)
        named: Counter[str] = Counter(name for value, each in names.items() if value in used for name in each)
        self.worth = {
            value: _shape(value)
            * _rarity(value, times[value])
            * (_demand(value, used.get(value), last) if value in stated else _read(newest[value], last))
            * (0.55 + 0.45 * math.exp((newest[value] - last) / 40))
            * max((_evidence(name, seen, named, arguments) for name in names.get(value, ())), default=1.0)
            for value in first
        }
        self.rare = {word: 1 / (1 + math.log(count)) for word, count in spoken.items()}

    def made(self, room: int, words: int, findings: int) -> Chosen:
        """The choice."""
        self.words = words
        self._take_findings(min(findings, room))
        items = [_Item(line, place, piece, line) for line in self.open for place, piece in enumerate(self.pieces[line])]
        for item in sorted(items, key=lambda item: (-item.line, not item.piece.edge, item.place)):
            if self.stretch.lines[item.line].kind == "user" and self.spent + self._price(item) <= min(words, room):
                self._take(item)
        heap = [(-self._gain(item) / self._price(item), at) for at, item in enumerate(items)]
        heapq.heapify(heap)
        while heap:
            _, at = heapq.heappop(heap)
            item = items[at]
            price = self._price(item)
            if item.place in self.kept[item.line] or self.spent + price > room:
                continue
            rate = self._gain(item) / price
            if heap and rate < -heap[0][0] - 1e-9:
                heapq.heappush(heap, (-rate, at))
                continue
            self._take(item)
        return Chosen(tuple(tuple(sorted(each)) for each in self.kept), self.spent)

    def _take_findings(self, room: int) -> None:
        """The newest findings, as far as they fit a room whole."""
        for at in reversed(self.open):
            items = [_Item(at, place, piece, at) for place, piece in enumerate(self.pieces[at])]
            cost = sum(item.piece.tokens for item in items) + _MARKER + _STEP
            if self.stretch.lines[at].kind == "note" and self.spent + cost <= room:
                for item in items:
                    self._take(item)

    def _gain(self, item: _Item) -> float:
        gain = 0.0
        for value, _ in item.piece.values:
            gain += self.worth[value] * _AGAIN[min(self.covered[value], 2)]
        kind = self.stretch.lines[item.line].kind
        plain = 0.0 if kind == "text" else _WORD
        fresh = [word for word in item.piece.words if not self.told[word]]
        for word in fresh:
            gain += self.rare[word] * (_NEAR if word in self.query else plain)
        gain += _EDGE if item.piece.edge and kind == "say" else 0.0
        gain += _ANY * (1 + self.stretch.steps[item.line])
        if kind == "note":
            gain *= _SPOKEN
        if kind == "user":
            gain *= _SPOKEN if self.spoken[item.line] < _MESSAGE * self.words else _BEYOND
        return gain * (_NEWEST if self.stretch.steps[item.line] == self.last else 1.0)

    def _price(self, item: _Item) -> int:
        """What a piece costs with what it cannot be read without, as far as that does not stand yet."""
        lines = self.stretch.lines
        price = item.piece.tokens
        for at in self.above[item.line]:
            if not self.kept[at]:
                price += _MARKER + sum(self.pieces[at][place].tokens for place in self._subject(at))
        if not self.kept[item.line]:
            price += _MARKER + lines[item.line].depth // 2
            price += sum(self.pieces[item.line][place].tokens for place in self._subject(item.line) - {item.place})
        return price + _STEP * (self.stretch.steps[item.line] not in self.steps)

    def _take(self, item: _Item) -> None:
        price = self._price(item)
        self.spent += price
        self.spoken[item.line] += price
        for at in (*self.above[item.line], item.line):
            if not self.kept[at]:
                subject = self._subject(at)
                self.kept[at].update(subject or {HEAD})
                for place in subject - ({item.place} if at == item.line else set()):
                    self._cover(self.pieces[at][place])
        self.kept[item.line].discard(HEAD)
        self.kept[item.line].add(item.place)
        self.steps.add(self.stretch.steps[item.line])
        self._cover(item.piece)

    def _subject(self, at: int) -> set[int]:
        """What a line cannot be read without: the first cell of a call, of columns, and of a row that answers no call."""
        line = self.stretch.lines[at]
        named = line.kind == "call" and not line.depth
        bare = line.kind == "data" and (line.table == "columns" or not self.above[at])
        return {0} if self.pieces[at] and (named or bare or len(self.pieces[at]) == 1) else set()

    def _cover(self, piece: Piece) -> None:
        self.covered.update([value for value, _ in piece.values])
        self.told.update(piece.words)


@lru_cache(maxsize=65_536)
def _is_id(value: str) -> bool:
    """Whether a value is built as what names one thing: letters with digits, joined parts, many digits; no blank in it."""
    if " " in value or len(value) > _LONGEST_ID:
        return False
    digits = sum(map(str.isdigit, value))
    return (
        "@" in value or "/" in value or "_" in value or digits >= _MANY or (0 < digits < len(value.strip("$€£¥%.,:")))
    )


@lru_cache(maxsize=65_536)
def _shape(value: str) -> float:
    """How likely a value of this build is to be needed letter by letter."""
    if len(value) < 2:
        return 0.05
    if _is_id(value):
        return 1.0
    if _NUMBER.fullmatch(value):
        return 0.35 if len(value) > 2 else 0.1
    return 0.3


def _demand(value: str, used: int | None, last: int) -> float:
    """More where something named it since, the later the more; an id that nothing has named is open."""
    if used is not None:
        return 1 + 1.5 * math.exp((used - last) / 25)
    return 1.3 if _is_id(value) else 0.6


def _read(newest: int, last: int) -> float:
    """What was read in a document and never named: needed while the work is on it."""
    return 0.05 + 0.6 * math.exp((newest - last) / 8)


def _evidence(name: str, seen: Counter[str], named: Counter[str], arguments: set[str]) -> float:
    """How often values under a name were named again, and whether calls have an argument of that name."""
    return 0.2 + 1.4 * ((4 + named[name]) / (8 + seen[name]) + 0.5 * (name in arguments))


def _columns(lines: Sequence[Line], above: tuple[int, ...]) -> Line | None:
    return lines[above[-1]] if above and lines[above[-1]].table == "columns" else None


def _rarity(value: str, times: int) -> float:
    """What repetition leaves of a value's worth: little of a plain word's, more of an id's, which is what is acted on."""
    return 0.35 + 0.65 / math.sqrt(times) if _is_id(value) else 1 / times
