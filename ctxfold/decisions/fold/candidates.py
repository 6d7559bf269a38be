"""What a fold may keep, piece by piece: each line of a stretch, long texts cut into their own lines, each with what it is worth. It chooses nothing.

A piece is worth the values it brings that stand nowhere newer, by how surely they name something, and how it bears on what the session is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import fsum, log2
from typing import NamedTuple

from ctxfold.decisions.fold.pieces import depth, pieces
from ctxfold.log.compact.prose import values, whole
from ctxfold.log.lines import Line, LineKind
from ctxfold.view.gathering import begins
from ctxfold.view.relevance import Query

__all__ = ["Candidate", "candidates"]

_BASE: dict[LineKind, float] = {"user": 9.0, "note": 6.0, "data": 0.5, "call": 1.0, "text": 0.2, "say": 0.3}
_RANKED = 2_000
"""Characters of a piece that are looked at to rank it."""


class Candidate(NamedTuple):
    """A piece that may be kept.

    Attributes:
        at: its place in the stretch.
        line: the piece, as it would stand.
        worth: how much there is to lose with it.
        parents: places of what it cannot be read without.
        must: whether it stays whatever it costs.
    """

    at: int
    line: Line
    worth: float
    parents: tuple[int, ...]
    must: bool


def candidates(lines: Sequence[Line], query: Query, pinned: frozenset[int]) -> list[Candidate]:
    """The pieces of a stretch in their order.

    Args:
        lines: its lines, ditto marks spelled out.
        query: what the session is about now.
        pinned: ledger keys that later lines point at.
    """
    cut = [piece for line in lines for piece in (pieces(line) if pinned.isdisjoint(line.keys) else (line,))]
    worth = _worths(cut, query)
    found: list[Candidate] = []
    rows: list[tuple[int, int]] = []
    places: dict[int, int] = {}
    ref, held = "", -1
    for at, line in enumerate(cut):
        if line.ref != ref and (line.kind != "call" or begins(line)):
            ref, rows, held = line.ref, [], -1
        parents = tuple([places[key] for key in line.points if key in places])
        if line.kind in ("data", "call", "text"):
            deep = depth(line)
            while rows and rows[-1][0] >= deep:
                rows.pop()
            parents += (rows[-1][1],) if rows else ()
            rows.append((deep, at))
        if held >= 0 and line.indent <= held:
            held = -1
        if held < 0 and not pinned.isdisjoint(line.keys):
            held = line.indent
        for key in line.keys:
            places[key] = at
        found.append(Candidate(at, line, worth[at], parents, held >= 0 or line.kind in ("user", "note")))
    return found


def _worths(cut: Sequence[Line], query: Query) -> list[float]:
    """Newest first, so that of a value told often the newest place counts most. What the user names is asked for, not told."""
    there = [_told(line) for line in cut]
    often = Counter(chain.from_iterable(there))
    used = set().union(*(each for line, each in zip(cut, there, strict=True) if line.kind in ("call", "user")))
    names = dict(zip(often, map(_naming, often, often.values()), strict=True))
    names.update((value, names[value] * _USED) for value in used)
    bearings = query.scores([line.text[:_RANKED] for line in cut])
    newer: set[str] = set()
    found: list[float] = []
    for at in range(len(cut) - 1, -1, -1):
        line = cut[at]
        fresh = there[at] - newer
        if line.kind != "user":
            newer |= fresh
        closing = line.kind == "text" and (at + 1 == len(cut) or cut[at + 1].ref != line.ref)
        recent = _RECENT * (at + 1) / (len(cut) + 1)
        bearing = _BASE[line.kind] + _CLOSING * closing + _BEARING * bearings[at] + recent
        if line.kind == "data" and len(fresh) < len(there[at]):
            naming = fsum([names[value] * (1 if value in fresh else _AGAIN) for value in there[at]])
        else:
            naming = fsum([names[value] for value in fresh])
        found.append(naming + bearing * (1.0 if fresh or line.kind not in ("data", "text") else 0.1))
    return found[::-1]


def _told(line: Line) -> set[str]:
    """The values a piece tells: not our own addresses in it, and none of what only heads the rows below it."""
    text = line.text[:_RANKED]
    if line.kind not in ("data", "call"):
        return values(text)
    if line.kind == "data" and whole(text)[0].endswith(":"):
        return set()
    return values(_REFS.sub(" ", text) if "as " in text or "=s" in text else text)


_REFS = re.compile(r"(?:\bas |=)s\d+\.\d+\b|^[< ]+as \S+:")
_CLOSING = 2.0
"""What the last line of a tool's text is worth for being the last: it says how it ended, what it came to, and where it goes on."""
_BEARING = 10.0
"""What having to do with the goal is worth: a line that alone names what is asked about outweighs one with an id in it."""
_RECENT = 2.0
"""What the newest piece of a stretch is worth for being the newest."""
_AGAIN = 0.3
"""What a value in a record counts for that stands in a newer line too: the record says what belongs to it, the newer line often does not."""
_USED = 2
"""What a value counts for that was put into a call or named by the user: what was asked for once is asked for again."""
_PLAIN = 12
"""Characters of a value that one unit of worth pays for; a long address cannot be guessed from a part of it."""


def _naming(value: str, often: int) -> float:
    """How surely a value names something that may be asked for again: an id more than a date, a date more than a number; the oftener, the surer."""
    base, long = _kind(value), max(1.0, len(value) / _PLAIN)
    return base * long if often == 1 else base * (1 + log2(often) / 2) * long


def _kind(value: str) -> float:
    """How surely a value names something by the signs it is made of."""
    if value.isdigit():
        return 1.0
    if value.isalpha():
        return 2.5
    letters = value.islower() if value.isascii() else any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    if letters and digits:
        base = 15.0
    elif "@" in value or "/" in value or "_" in value:
        base = 2.0
    else:
        base = 2.5 if letters else 1.5
    return base
