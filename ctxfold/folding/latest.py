"""The latest block in less room than it needs: short lines stay, long ones share what is left, each by its beginning, its end and what is asked for.

It commits nothing: what was left out is marked at its place and stands at the end of a ref.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ctxfold.compact.cut import CUT
from ctxfold.compact.spelled import abridged, spelled
from ctxfold.folding.ladder import FENCED, Shown, above, clip
from ctxfold.folding.left_out import marked
from ctxfold.folding.relevance import Query
from ctxfold.lines import Line
from ctxfold.tokens import count, head

__all__ = ["shrunk"]

_ASIDE = 16
"""Tokens that the marks of what is left out may cost beside a record's share."""
_SHORT = 48
"""Tokens up to which what was said and called stays whole for as long as it can."""
_BEGINNING, _END = 0.4, 0.15
"""Of a record's share what its beginning and its end get; what is asked for gets the rest, and the beginning what that leaves."""
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
    lines = [line if line.kind in ("user", "data", "text") else clip(line, _SHORT) for line in latest.lines]
    prose = head(latest.prose, max(aim // 4, 8)) if latest.prose else ""
    bulky = [line for line in lines if line.kind in ("data", "text")]
    left = aim - count(prose) - sum(line.tokens for line in lines if line.kind not in ("data", "text")) - _ASIDE
    sizes = {ref: sum(line.tokens for line in same) for ref, same in _records(bulky)}
    if left < FENCED * len(sizes):
        return None
    shares = _shares(sizes, left)
    made: list[Line] = []
    for ref, same in _records(lines):
        made += same if ref not in sizes or sizes[ref] <= shares[ref] else _shortened(same, shares[ref], query)
    return replace(latest, lines=tuple(made), prose=prose, cut=True)


def _records(lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
    return ((ref, list(same)) for ref, same in groupby(lines, lambda line: line.ref))


def _shares(sizes: dict[str, int], room: int) -> dict[str, int]:
    """A room shared out: what is small gets all it needs, what is not gets alike."""
    shares: dict[str, int] = {}
    for at, (ref, size) in enumerate(sorted(sizes.items(), key=lambda each: each[1])):
        shares[ref] = min(size, room // (len(sizes) - at))
        room -= shares[ref]
    return shares


def _shortened(lines: Sequence[Line], share: int, query: Query) -> list[Line]:
    """A record's lines within a share: its rows as far as they fit, its texts each within a part of it."""
    rows = [line for line in lines if line.kind == "data"]
    texts = [line for line in lines if line.kind == "text"]
    for_rows = share if not texts else min(sum(line.tokens for line in rows), share // 2)
    for_texts = (share - for_rows) // max(len(texts), 1)
    stay = iter(_rows(rows, for_rows, query))
    made = [_text(line, for_texts, query) if line.kind == "text" else line for line in lines if line.kind != "data"]
    return [*stay, *made] if rows and lines[0].kind == "data" else [*made, *stay]


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
