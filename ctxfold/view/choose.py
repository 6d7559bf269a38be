"""Chooses which pieces of a stretch to show, those worth most for each token they cost, and shortens its lines to them, each gap marked at its place.

What stands elsewhere in the view is worth little: weighted coverage under a budget, solved greedily.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, assert_never

from ctxfold.log.lines import Line
from ctxfold.view.headings import above, asked_of, columns_of, headings, short_answers
from ctxfold.view.pieces import Piece, cells_of, pieces_of
from ctxfold.view.stretch import HEAD, Chosen, Stretch
from ctxfold.view.worth import Worth

__all__ = ["GAP", "choose", "shortened"]

GAP = "…"
"""Stands where something was left out."""

_MARKER = 2
"""o200k tokens of what a line begins with."""
_FADE = 12
"""Steps in which a third is left of what a step is worth more for being near."""
_NEWEST, _MESSAGE, _BEYOND = 0.25, 0.2, 0.13
"""Of the room of the user's words, what the newest take whatever they are worth, and the share of one message; how much less is worth what is beyond it."""
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
        words: o200k tokens that the user's words may take before anything else but findings.
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
        for at, whole in enumerate(stretch.whole):
            if whole:
                self.kept[at].update(range(len(self.pieces[at])))
                self.steps.add(stretch.steps[at])
                for piece in self.pieces[at]:
                    self.worth.take(piece)

    def made(self, room: int, words: int, findings: int) -> Chosen:
        """The choice."""
        self.words = words = min(words, room)
        self._take_findings(min(findings, room))
        items = [_Item(line, place, piece) for line in self.open for place, piece in enumerate(self.pieces[line])]
        for item in sorted(items, key=lambda item: (-item.line, not item.piece.edge, item.place)):
            new = self._is_spoken(item) and not self.worth.is_said(item.line, item.piece)
            if new and self.spent + self._price(item) <= _NEWEST * words:
                self._take(item)
        self._take_best([item for item in items if self._is_spoken(item)], words)
        self._take_best(items, room)
        return Chosen(tuple(tuple(sorted(each)) for each in self.kept), self.spent)

    def _take_best(self, items: Sequence[_Item], room: int) -> None:
        """Those worth most for each token they cost, as far as a room goes."""
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

    def _is_spoken(self, item: _Item) -> bool:
        """Whether a piece is the user's, within the share of one message."""
        return self.stretch.lines[item.line].kind == "user" and self.spoken[item.line] < _MESSAGE * self.words

    def _take_findings(self, room: int) -> None:
        """The newest findings, as far as they fit a room whole."""
        for at in reversed(self.open):
            items = [_Item(at, place, piece) for place, piece in enumerate(self.pieces[at])]
            cost = sum(item.piece.tokens for item in items) + _MARKER + _STEP
            if self.stretch.lines[at].kind == "note" and self.spent + cost <= room:
                for item in items:
                    self._take(item)

    def _gain(self, item: _Item) -> float:
        gain = self.worth.of(item.line, item.place, item.piece)
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
        self._keep(item.line, self._missing(item))
        self.kept[item.line].discard(HEAD)
        self.kept[item.line].add(item.place)
        self.steps.add(self.stretch.steps[item.line])
        self.worth.take(item.piece)
        for at in {item.line, *self.above[item.line]} & self.answers.keys():
            self._keep(self.answers.pop(at), {0})

    def _keep(self, at: int, places: set[int]) -> None:
        self.kept[at].update(places or {HEAD})
        for place in places:
            self.worth.take(self.pieces[at][place])

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


def shortened(stretch: Stretch, chosen: Chosen) -> list[Line]:
    """The lines of a stretch as they stand after a choice; those that stand whole included.

    Args:
        stretch: the lines.
        chosen: what was chosen of each.
    """
    made: list[Line] = []
    columns: Line | None = None
    gone = {line.ref for line, places in zip(stretch.lines, chosen.kept, strict=True) if line.depth and not places}
    for line, places, whole in zip(stretch.lines, chosen.kept, stretch.whole, strict=True):
        if line.table == "columns":
            columns = line
        if whole:
            made.append(line)
        elif places:
            pieces = pieces_of(line, columns if line.table == "cells" else None)
            lacks = line.ref in gone and line.kind == "call" and not line.depth
            made.append(_short(line, pieces, places) if lacks or not _is_whole(line, pieces, places) else line)
    return made


def _is_whole(line: Line, pieces: Sequence[Piece], places: Sequence[int]) -> bool:
    """Whether nothing of a line is left out; long cells of a table stand with the names of their columns all the same."""
    return len(places) == len(pieces) and HEAD not in places and (line.table != "cells" or len(pieces) == 1)


def _short(line: Line, pieces: Sequence[Piece], places: Sequence[int]) -> Line:
    kept = [pieces[place] for place in places if place != HEAD]
    match line.kind:
        case "user" | "say" | "note":
            marker = line.text[: line.text.find(":") + 1]
            return line.reworded(f"{marker} {_prose(line, pieces, kept)}")
        case "text":
            return line.reworded(_document(line, pieces, kept, "< "))
        case "call" if line.depth:
            return line.reworded(_document(line, pieces, kept, line.text.partition("\n")[0] + "\n"))
        case "call":
            cells = cells_of(line) if len(kept) == len(pieces) == 1 else _cells(line, pieces, kept)
            return line.reworded(_head(line, pieces) + ", ".join([*cells, GAP]) + ")")
        case "data":
            return line.reworded((_head(line, pieces) + ", ".join(_cells(line, pieces, kept))).rstrip())
        case "stub":
            return line
        case _:
            assert_never(line.kind)


def _prose(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> str:
    """Sentences as they stand, one mark where others stood between them, and a row of its own for each that begins one."""
    text, at = "", pieces[0].span.start if pieces else 0
    for piece in kept:
        between = line.text[at : piece.span.start]
        if between.strip():
            text = _marked(text) + ("\n" if text and between.rstrip(" \t").endswith("\n") else " ")
        else:
            text += between
        text += piece.text
        at = piece.span.end
    return _marked(text) if pieces and at < pieces[-1].span.end else text


def _marked(text: str) -> str:
    """A text with a mark at its end, once."""
    text = text.rstrip()
    return text if text.endswith(GAP) else f"{text} {GAP}".lstrip()


def _head(line: Line, pieces: Sequence[Piece]) -> str:
    """What stands before the first cell of a line; all of it where it has one piece and no cells."""
    if line.cuts:
        return line.text[: line.cuts[0]]
    return line.text[: pieces[0].span.start] if len(pieces) > 1 else line.text


def _cells(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> list[str]:
    """Cells as they stand, within a long one a mark where something is left out."""
    return [text for text in _runs(line, pieces, kept) if text != GAP]


def _document(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece], head: str) -> str:
    """Lines of a document as they stand, a mark on its own line where others stood between them, and within a long one where it stood; a single line
    with its marks beside it.
    """
    rows = _runs(line, pieces, kept)
    if head != "< ":
        return head + "\n".join(rows)
    if len(kept) == 1:
        return f"< {' '.join(rows)}"
    text = "\n".join(rows)
    return f"< {text}" if len(text.splitlines()) <= 1 else f"<<{line.ref}\n{text}\n{line.ref}>>"


def _runs(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> list[str]:
    """The lines or cells of which pieces are kept, with the marks for what is left out within and between them."""
    rows: list[str] = []
    before = -1
    order = {id(piece): at for at, piece in enumerate(pieces)}
    for piece in kept:
        at = order[id(piece)]
        first = at
        while pieces[first].part and first > before + 1:
            first -= 1
        within = pieces[first].part
        if within and rows:
            rows[-1] += line.text[pieces[before].span.end : piece.span.start] if at == before + 1 else f" {GAP} "
            rows[-1] += piece.text
        else:
            rows += [GAP] if first != before + 1 else []
            rows.append(piece.text if first == at else f"{GAP} {piece.text}")
        before = at
    if before + 1 < len(pieces):
        if pieces[before + 1].part:
            rows[-1] += f" {GAP}"
        if any(not piece.part for piece in pieces[before + 1 :]):
            rows.append(GAP)
    return rows
