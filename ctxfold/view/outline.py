"""Reads a long text as units and ranks them by structure: what is rare in its shape, what opens a block, the first and the last of what is alike."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from ctxfold.view.pieces import shape_of, words_of

__all__ = ["Unit", "folders", "is_listing", "ranked", "units_of"]

_DIGITS = re.compile(r"\d+")
_TOLD = re.compile(r"\w")
_RECORD_END = re.compile(r"(?<=[}\])]),\s*(?=[{\[(])")
_LONG = 2_000
"""Characters from which a line is read as the records it may consist of."""
_WIDE = 240
"""Characters of a line that are shown."""
_ORDINARY = 0.1
"""The share of lines unlike all others from which being unlike says nothing."""
_FIRST, _LAST = 3, 2
"""Of lines that are alike, how many at the start and at the end come before those between."""
_GOLDEN = 0.6180339887498949
_RARE = 0.03
"""The share of units that may hold a word for it to tell which of them serve a need."""
_SERVING = 12
"""Units that may come first because they serve the need."""
_LONE = 0.25
"""What a turn costs of lines unlike all others where that is ordinary: those make up the text, and what recurs is its furniture."""
_LOOKED = 2_000
"""Of a long ranking, how much is looked through for what is said again: no budget comes further."""
_AGAIN = 2
"""How often the same words stand, numbers aside, before they come last."""
_PATHS = 0.8
"""The share of lines that are paths from which a text is a listing of them."""
_LEAST = 8
"""Lines from which a listing is worth folding."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a text that is shown or left out as one, with its lines from 1 and how deep it stands. `shape`: what units that are alike have in common."""

    text: str
    first: int
    last: int
    depth: int
    shape: str


def units_of(text: str) -> list[Unit]:
    """The lines of a text that say something; of a very long line the records it consists of."""
    found: list[Unit] = []
    for number, line in enumerate(text.split("\n"), 1):
        for part in _RECORD_END.split(line) if len(line) >= _LONG else (line,):
            if not _TOLD.search(part[:_WIDE]):
                continue
            shown = part if len(part) <= _WIDE else f"{part[:_WIDE]}…"
            depth = len(part) - len(part.lstrip())
            found.append(Unit(shown.rstrip(), number, number, depth, shape_of(part)))
    return found


def is_listing(lines: Sequence[str]) -> bool:
    """Whether lines are paths."""
    return len(lines) >= _LEAST and sum("/" in line and " " not in line for line in lines) >= _PATHS * len(lines)


def folders(paths: Iterable[str], wide: int) -> list[Unit]:
    """A unit for each folder of some paths: its path, how many it holds, and the names as far as so many characters go."""
    inside: dict[str, list[str]] = {}
    for path in paths:
        folder, name = posixpath.split(path.rstrip("/"))
        inside.setdefault(folder, []).append(name)
    found = []
    for folder in sorted(inside):
        names, shown = inside[folder], ""
        for at, name in enumerate(names):
            if shown and len(shown) + len(name) > wide:
                shown += f", … {len(names) - at} more, the last {names[-1]}"
                break
            shown += f", {name}" if shown else name
        depth = folder.count("/")
        found.append(Unit(f"{folder or '.'}/ ({len(names)}): {shown}", 0, 0, depth, str(depth)))
    return found


def ranked(units: Sequence[Unit], need: str) -> list[int]:
    """The places of units, those first that are most worth showing to whoever needs `need`."""
    if not units:
        return []
    edges = [0, len(units) - 1]
    return list(dict.fromkeys([*edges, *_serving(units, need), *_alternating(units)]))


def _serving(units: Sequence[Unit], need: str) -> list[int]:
    """The units that hold rare words of the need, those with most of them first."""
    held: dict[int, int] = {}
    low = [unit.text.lower() for unit in units]
    for word in words_of(need)[:_SERVING]:
        places = [at for at, text in enumerate(low) if word in text]
        if len(places) <= max(_FIRST, _RARE * len(units)):
            for at in places:
                held[at] = held.get(at, 0) + 1
    return sorted(held, key=lambda at: (-held[at], at))[:_SERVING]


def _alternating(units: Sequence[Unit]) -> list[int]:
    """Units of each group of alike ones in turn, the more of a group the fewer there are; what is like nothing else counts as a group of its own, or,
    where that is common, as one with the others.
    """
    groups: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        groups.setdefault(unit.shape, []).append(at)
    lone = [places[0] for places in groups.values() if len(places) == 1]
    many = [places for places in groups.values() if len(places) > 1]
    queues = [(sqrt(len(places)), _ends_first(places)) for places in many]
    if len(lone) > _ORDINARY * len(units):
        queues.append((_LONE, _openers_first(units, lone)))
    else:
        queues += [(1.0, [at]) for at in lone]
    turns = ((turn * weight, at) for weight, queue in queues for turn, at in enumerate(queue, 1))
    return _repeated_last(units, [at for _, at in sorted(turns)])


def _repeated_last(units: Sequence[Unit], ranks: Sequence[int]) -> list[int]:
    """The same order, but for what others before it say already: it comes last."""
    told: Counter[str] = Counter()
    first: list[int] = []
    again: list[int] = []
    for at in ranks[:_LOOKED]:
        words = _DIGITS.sub("", units[at].text.strip())
        told[words] += 1
        (first if told[words] <= _AGAIN else again).append(at)
    return [*first, *ranks[_LOOKED:], *again]


def _ends_first(places: Sequence[int]) -> list[int]:
    """The first few, the last few, then those between, spread evenly."""
    if len(places) <= _FIRST + _LAST:
        return list(places)
    return [*places[:_FIRST], *places[: -_LAST - 1 : -1], *_spread(places[_FIRST:-_LAST])]


def _openers_first(units: Sequence[Unit], places: Sequence[int]) -> list[int]:
    """What opens a block, a deeper one or one behind a blank line, the shallow first and spread evenly; then the rest."""
    opening: dict[int, list[int]] = {}
    rest: list[int] = []
    for at in places:
        deeper = at + 1 < len(units) and units[at + 1].depth > units[at].depth
        apart = at > 0 and units[at].first > units[at - 1].last + 1
        if deeper or apart:
            opening.setdefault(units[at].depth, []).append(at)
        else:
            rest.append(at)
    return [*(at for depth in sorted(opening) for at in _spread(opening[depth])), *_spread(rest)]


def _spread(places: Sequence[int]) -> list[int]:
    """Places in an order whose every beginning is spread over all of them."""
    return [places[at] for at in sorted(range(len(places)), key=lambda at: (at * _GOLDEN) % 1)]
