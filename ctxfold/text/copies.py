"""Finds where a text holds a value: as it is, in part, spaced out, or in a common encoding."""

# A page can hide a value from any reader by a cipher of its own. What is found here is what browsers, libraries and plain tricks make of it.

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ctxfold.text.encodings import SEPARATORS, bare, lowered, spell, unescape

__all__ = ["Copies", "Copy", "Readings"]

_DEEP = 6
"""How often a text that is escaped again is unescaped."""
_LEAST_PART = 6
"""Characters of a part of a value below which it is left: it would stand in ordinary text by chance."""
_LEAST_CODE_PART = 10
_TELLING = 20
"""Characters of a part that tells enough of however long a value."""
_LONG = 200
"""Characters of a value above which its codes are looked for whole."""
_LEAST_SPACED, _LEAST_FOLDED = 6, 4
_DISTINCT = 4
"""Different letters and digits that a part must have: less is filling, as in a rule or a table."""
_HEX = "0x"
"""What is left out between codes in numbers and may be two signs of a code in letters."""
_WORD = re.compile(r"[^\W_]+")
_BLANKS = re.compile(
    r"[\s+\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
"""What a page folds, adds or puts for a blank."""


Replaced = Callable[[], Iterable[tuple[int, int, str]]]
"""The places of a text that were replaced: start, end, and what stands there now."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A place where a value stands: its stretches of the text in order, one unless it is spread out, and whether it is all there."""

    stretches: tuple[tuple[int, int], ...]
    whole: bool


class Copies:
    """Finds one value in texts. With `parts` those of at least half of it (or 20 characters) and 6 are found too, such as the beginning that a page shows."""

    def __init__(self, value: str, parts: bool = False) -> None:
        spelled = spell(value)
        self._plain = [_Needle(text, _part(text, _LEAST_PART) if parts else None) for text in spelled.plain]
        parts = parts and len(value) <= _LONG
        self._codes = [_Needle(text, _part(text, _LEAST_CODE_PART) if parts else None) for text in spelled.codes]
        both = (value, value[::-1])
        blanks = any(map(str.isspace, value))
        self._close = _spaced((_BLANKS.sub("", each) for each in both), _LEAST_FOLDED if blanks else _LEAST_SPACED)
        self._bare = _spaced(map(bare, both), _LEAST_SPACED)

    def find(self, text: Readings) -> list[Copy]:
        """Every place where the value stands, in no order; they may overlap."""
        found: list[Copy] = []
        for reading, close, without in text.each:
            found += reading.copies(self._plain)
            found += close.copies([*self._close, *(self._codes if close.holds(_HEX) else ())])
            found += without.copies([*self._bare, *self._codes])
        return [*found, *(text.apart(copy) for copy in text.spread.copies(self._bare))]


@dataclass(frozen=True, slots=True)
class _Needle:
    """A spelling in lower case, and the least part of it that counts; None where only all of it does."""

    text: str
    part: int | None

    def hits(self, text: str) -> Iterator[tuple[int, int]]:
        """The stretches of `text`, in lower case, that hold it or a part of it."""
        size, least = len(self.text), self.part
        if least is None or least >= size:
            at = text.find(self.text)
            while at >= 0:
                yield at, at + size
                at = text.find(self.text, at + size)
            return
        seed = (least + 1) // 2  # each part that counts holds one of these seeds from its first character to its last
        for offset in range(0, size - seed + 1, least - seed + 1):
            yield from self._grown(text, offset, seed, least)

    def _grown(self, text: str, offset: int, seed: int, least: int) -> Iterator[tuple[int, int]]:
        """The parts around each place where the seed at `offset` stands."""
        mine = self.text
        at = text.find(mine[offset : offset + seed])
        while at >= 0:
            low, high = 0, seed
            while low < offset and low < at and mine[offset - low - 1] == text[at - low - 1]:
                low += 1
            while offset + high < len(mine) and at + high < len(text) and mine[offset + high] == text[at + high]:
                high += 1
            start, end = at - low, at + high
            if end - start == len(mine) or (end - start >= least and _telling(text[start:end])):
                yield start, end
            at = text.find(mine[offset : offset + seed], end if end - start >= least else at + 1)


class _Reading:
    """A text as it reads when some places of it are replaced; `back` leads to where something stood in the first."""

    def __init__(self, text: str, before: _Reading | None = None, replaced: Replaced | None = None) -> None:
        self.text = text
        self._low = lowered(text)
        self._before = before
        self._replaced = replaced
        self._at: list[int] = []
        self._places: list[tuple[int, int, int]] = []

    def unescaped(self) -> _Reading | None:
        """This with its escapes taken out once; None where there are none."""
        places = list(unescape(self.text))
        if not places:
            return None
        pieces: list[str] = []
        last = 0
        for start, end, meant in places:
            pieces += (self.text[last:start], meant)
            last = end
        return _Reading("".join((*pieces, self.text[last:])), self, lambda: places)

    def without(self, dropped: re.Pattern[str]) -> _Reading:
        """This with what matches left out."""
        text = self.text
        return _Reading(
            dropped.sub("", text), self, lambda: ((found.start(), found.end(), "") for found in dropped.finditer(text))
        )

    def holds(self, text: str) -> bool:
        """Whether it holds a text in lower case."""
        return text in self._low

    def copies(self, needles: Iterable[_Needle]) -> Iterator[Copy]:
        """Where the first text holds one of these."""
        for needle in needles:
            for start, end in needle.hits(self._low):
                yield Copy((self._back(start, end),), end - start == len(needle.text))

    def _back(self, start: int, end: int) -> tuple[int, int]:
        if self._before is None:
            return start, end
        return self._before._back(self._origin(start)[0], self._origin(end - 1)[1])

    def _origin(self, at: int) -> tuple[int, int]:
        """Where the character at a place stood in the text before: what was replaced as one, as one."""
        if self._replaced is not None:
            self._note_places(self._replaced())
        number = bisect_right(self._at, at) - 1
        if number < 0:
            return at, at + 1
        start, end, until = self._places[number]
        return (start, end) if at < until else (end + at - until, end + at - until + 1)

    def _note_places(self, places: Iterable[tuple[int, int, str]]) -> None:
        last = size = 0
        for start, end, meant in places:
            size += start - last
            self._at.append(size)
            size += len(meant)
            self._places.append((start, end, size))
            last = end
        self._replaced = None


class Readings:
    """A text in the ways it can be read, which are the same for every value that is looked for. `between`: what may stand between two parts of a value that is spread out, beside blanks and punctuation."""

    def __init__(self, text: str, between: re.Pattern[str] | None = None) -> None:
        self._text = text
        self._between = between
        self.each: list[tuple[_Reading, _Reading, _Reading]] = []
        reading: _Reading | None = _Reading(text)
        while reading is not None and len(self.each) <= _DEEP:
            self.each.append((reading, reading.without(_BLANKS), reading.without(SEPARATORS)))
            reading = reading.unescaped()
        self.spread: _Reading = _Reading("")
        if between is not None:
            self.spread = _Reading(text).without(re.compile(f"(?:{between.pattern})|[\\W_]", between.flags))

    def apart(self, copy: Copy) -> Copy:
        """A copy that is spread out without what stands between its parts."""
        if self._between is None:
            return copy
        (start, end), *_ = copy.stretches
        gaps = [*((gap.start(), gap.end()) for gap in self._between.finditer(self._text, start, end)), (end, end)]
        parts: list[tuple[int, int]] = []
        for low, high in gaps:
            words = list(_WORD.finditer(self._text, start, low))
            parts += [(words[0].start(), words[-1].end())] if words else []
            start = high
        return Copy(tuple(parts), copy.whole)


def _spaced(texts: Iterable[str], least: int) -> list[_Needle]:
    return [_Needle(lowered(text), None) for text in dict.fromkeys(texts) if len(text) >= least]


def _part(text: str, least: int) -> int:
    return min(max(least, -(-len(text) // 2)), _TELLING)


def _telling(part: str) -> bool:
    return len({sign for sign in part if sign.isalnum()}) >= _DISTINCT
