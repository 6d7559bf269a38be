"""The latest block in less room than it needs: short lines stay, long ones share what is left, each by its beginning, its end and what is asked for.

It commits nothing: what was left out is marked at its place and stands at the end of a ref.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ctxfold.log.compact.ditto import abridged, spelled
from ctxfold.log.compact.prose import CUT
from ctxfold.log.lines import Line
from ctxfold.tokens import count, head
from ctxfold.view.excerpt import excerpt, read
from ctxfold.view.ladder import FENCED, Shown, above, clip
from ctxfold.view.left_out import marked
from ctxfold.view.relevance import Query

__all__ = ["shared", "shrunk"]

_ASIDE = 16
"""Tokens that the marks of what is left out may cost beside a record's share."""
_SHORT = 48
"""Tokens up to which what was said and called stays whole for as long as it can."""
_BEGINNING, _END = 0.4, 0.15
"""Of a share what its beginning and its end get; what is asked for gets the rest, and the beginning what that leaves."""
_LONGEST = 0.25
"""Of a record's share what one line of it gets at most."""
_READ = 400_000
"""Characters of a text whose lines are looked at."""
_TRIES = 6
"""How often less is tried where an estimate was too high, before everything goes to its head."""


def shrunk(latest: Shown, room: int, query: Query) -> Shown | None:
    """The latest block within a room.

    Args:
        latest: the block, its messages of the user in the forms they shall have.
        room: o200k tokens it may cost.
        query: what the session is about now.

    Returns:
        The block with less of it; None where even the heads of its lines are too much.
    """
    aim = room
    for _ in range(_TRIES):
        short = _within(latest, aim, query)
        if short is None or short.tokens <= room:
            return short
        aim -= short.tokens - room + _ASIDE // 4
    return None


def _within(latest: Shown, aim: int, query: Query) -> Shown | None:
    units = list(_units(latest.lines))
    prose = head(latest.prose, max(aim // 4, 8)) if latest.prose else ""
    sizes = {at: sum(line.tokens for line in unit) for at, unit in enumerate(units) if unit[0].kind in _BULKY}
    said = {at: [_spoken(line) for line in unit] for at, unit in enumerate(units) if at not in sizes}
    left = aim - count(prose) - sum(line.tokens for unit in said.values() for line in unit) - _ASIDE
    shares = shared(sizes, left)
    if any(share < min(sizes[at], FENCED) for at, share in shares.items()):
        return None
    said |= _fuller(units, said, left - sum(shares.values()))
    made: list[Line] = []
    for at, unit in enumerate(units):
        made += said[at] if at in said else unit if sizes[at] <= shares[at] else _shortened(unit, shares[at], query)
    return replace(latest, lines=tuple(made), prose=prose, cut=True)


_BULKY = ("data", "text")


def _units(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """What is shortened as one: the rows of a table and those under them, or one text."""
    for _, same in groupby(lines, lambda line: (line.ref, line.kind)):
        unit = list(same)
        yield from ([line] for line in unit) if unit[0].kind == "text" else (unit,)


def _spoken(line: Line) -> Line:
    return line if line.kind == "user" else clip(line, _SHORT)


def _fuller(units: Sequence[list[Line]], said: Mapping[int, list[Line]], spare: int) -> dict[int, list[Line]]:
    """What was said and called, in the room that records leave: each as much more as all get alike."""
    cut = {at: unit[0].tokens for at, unit in enumerate(units) if at in said and said[at] != unit}
    room = spare + sum(said[at][0].tokens for at in cut)
    return {at: [_longer(units[at][0], said[at][0], share)] for at, share in shared(cut, room).items()}


def _longer(line: Line, short: Line, share: int) -> Line:
    """A line in its share, by sentences where it is somebody's words; never less than it has."""
    if line.tokens <= share:
        return line
    if line.kind == "call" or share <= short.tokens:
        return short if share <= short.tokens else clip(line, share - _ASIDE)
    mark, _, words = line.text.partition(" ")
    tail = f" […{line.tokens} tok {line.ref}]"
    room = share - count(mark) - count(tail) - 2
    text = f"{mark} {excerpt(read(words, room), room)}{tail}"
    return line.reworded(text, count(text) + 1, line.keys)


def shared(sizes: dict[int, int], room: int) -> dict[int, int]:
    """A room shared out: what is small gets all it needs, what is not gets alike.

    Args:
        sizes: o200k tokens that each would take, by place.
        room: o200k tokens for all.
    """
    shares: dict[int, int] = {}
    for done, (at, size) in enumerate(sorted(sizes.items(), key=lambda each: each[1])):
        shares[at] = min(size, room // (len(sizes) - done))
        room -= shares[at]
    return shares


def _shortened(unit: Sequence[Line], share: int, query: Query) -> Iterable[Line]:
    return (_text(unit[0], share, query),) if unit[0].kind == "text" else _rows(unit, share, query)


def _rows(rows: Sequence[Line], share: int, query: Query) -> Iterator[Line]:
    """Rows of a record, none without those it stands under, and none with a ditto mark for a row that is left out."""
    rows = spelled(rows)
    parents = above(rows)
    prices = [line.tokens + 1 for line in rows]
    chosen = _chosen(prices, share, query.scores([line.text for line in rows]), lambda at: (*parents[at], at))
    yield from abridged(list(marked(rows, chosen)))


def _text(line: Line, share: int, query: Query) -> Line:
    """A text by its lines; one that is a single line, or in too little room, by its head."""
    opening, _, rest = line.text.partition("\n")
    if line.tokens <= share or not line.text.startswith("<<") or share < 2 * FENCED:
        return clip(line, max(share - _ASIDE, 8))
    body = rest[: rest.rindex("\n")]
    near = body if len(body) <= _READ else f"{body[: _READ // 2]}\n{CUT}\n{body[-_READ // 2 :]}"
    longest = max(int(share * _LONGEST), 8)
    told = [_cut(text, longest) for text in near.split("\n")]
    prices = [count(text) + 1 if len(text) > 3 else 2 for text in told]
    chosen = _chosen(prices, share - _ASIDE, query.scores(told), lambda at: (at,))
    body = "\n".join(_with_gaps(told, chosen))
    text = f"{opening}\n{body}\n{line.ref}>> […{line.tokens} tok {line.ref}]"
    return line.reworded(text, count(text) + 1, line.keys)


def _cut(text: str, tokens: int) -> str:
    return text if len(text) <= tokens or count(text) <= tokens else f"{head(text, tokens)} {CUT}"


def _chosen(
    prices: Sequence[int], share: int, worths: Sequence[float], with_needed: Callable[[int], tuple[int, ...]]
) -> set[int]:
    """Places that fit a share: the first, the last, those that have to do with the query and what stands beside them, then more of the first."""
    chosen: set[int] = set()
    left = share

    def take(places: Iterable[int], most: float) -> None:
        nonlocal left
        least = left - most
        for at in places:
            needed = [place for place in with_needed(at) if place not in chosen]
            price = sum(prices[place] for place in needed)
            if price > left or left - price < least:
                return
            chosen.update(needed)
            left -= price

    asked = sorted((at for at, worth in enumerate(worths) if worth > 0), key=lambda at: (-worths[at], at))
    beside = (near for at in asked for near in (at, at - 1, at + 1) if 0 <= near < len(prices))
    take(range(len(prices)), share * _BEGINNING)
    take(reversed(range(len(prices))), share * _END)
    take(beside, left)
    take((at for at in range(len(prices)) if at not in chosen), left)
    return chosen


def _with_gaps(lines: Sequence[str], chosen: set[int]) -> Iterator[str]:
    """The chosen lines in their order, a mark at each place where others are left out."""
    before = -1
    for at in sorted(chosen):
        if at > before + 1:
            yield CUT
        yield lines[at]
        before = at
    if before + 1 < len(lines):
        yield CUT
