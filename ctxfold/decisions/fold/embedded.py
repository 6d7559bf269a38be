"""The embedded folder: what to keep of a stretch, decided from structure and relevance alone. No model, no network, the same input the same fold.

What it keeps, in order: the user's words; facts that later lines point at; facts, newest version only; what was called; sentences that bear on the
query. It never invents a word: every line it keeps is a line, or an exact part of one, that stood there before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.decisions.fold.candidates import Candidate, candidates
from ctxfold.log.compact.ditto import abridged, spelled
from ctxfold.log.lines import Line
from ctxfold.tokens import count
from ctxfold.view.attributed import GHOST, attributed, calls_of
from ctxfold.view.failing import failure, unsaid
from ctxfold.view.gathering import begins, gathered
from ctxfold.view.relevance import Query
from ctxfold.workspace.workspace import Block, RawStep, Status, Tile

__all__ = ["Room", "Settings", "condense", "kept_by_all", "newest", "status_of"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How folding behaves: the AgentFold skill's parameters as numbers. A share is one of the budget.

    Attributes:
        trigger: share of the cover from which it is consolidated for the first time.
        brim: share of the cover from which it is consolidated however little is raw.
        rest: share it is worked down to when there is nothing but prose to keep.
        grown: share of the raw steps from which they are folded once there are tiles: what makes a batch of them.
        tail: share that the newest steps may fill raw after it.
        facts: share that tiles may fill.
        fill: how much of what is free of that share a new tile takes.
        pressed: how much of what the raw steps leave free below the brim the tiles take when they are folded again.
        prose: how much of a tile's room may be anything but rows of facts and calls.
        least: raw steps that are folded at once, unless they are very long.
        recent: steps that always stay raw.
        window: newest steps that stay raw as long as they fill no more than `near` of the budget: what is being worked on.
        near: see `window`.
        batched: o200k tokens of a budget below which there are no batches: no prompt cache keeps so short a prefix, so folding tightly and
            often costs nothing and keeps more.
        micro: o200k tokens of prose a folded step keeps at most.
    """

    trigger: float = 0.70
    brim: float = 0.92
    rest: float = 0.40
    grown: float = 0.55
    tail: float = 0.20
    facts: float = 0.62
    fill: float = 0.68
    pressed: float = 0.77
    prose: float = 0.50
    least: int = 3
    window: int = 6
    near: float = 0.50
    batched: int = 4_096
    recent: int = 1
    micro: int = 120

    def of(self, budget: int) -> Settings:
        """The settings at a budget."""
        return self if budget >= self.batched else replace(self, **_TIGHT)


_TIGHT: dict[str, Any] = {
    "brim": 0.945,
    "grown": 0.10,
    "tail": 0.05,
    "facts": 0.95,
    "fill": 1.0,
    "pressed": 1.0,
    "least": 1,
    "window": 0,
}
"""What differs where nothing is folded in batches: the newest step alone is raw, and tiles take all the rest."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a fold may cost, in o200k tokens: prose is kept while all of it costs at most `prose`, facts and calls up to `facts`."""

    facts: int
    prose: int

    def within(self, tokens: int) -> Room:
        """The same, neither above a number of tokens."""
        return Room(max(min(self.facts, tokens), 0), max(min(self.prose, tokens), 0))


def condense(
    blocks: Sequence[Block], room: Room, query: Query, pinned: frozenset[int] = frozenset()
) -> tuple[Line, ...]:
    """What to keep of blocks within an allowance.

    Args:
        blocks: a contiguous stretch in path order.
        room: what the kept lines may cost; what must stay does even when it alone costs more.
        query: what the session is about now, to rank by.
        pinned: ledger keys that later lines point at.

    Returns:
        Kept lines in their order, each with the ref it had.
    """
    lines = newest(gathered(spelled([line for block in blocks for line in _lines(block)])), pinned)
    found, kept = _chosen(lines, room, query, pinned)
    results = _results(found)
    rest = _without_bare(found, kept, results)
    if rest is not None:
        found, kept = _chosen(rest, room, query, pinned)
        results = _results(found)
    told = _telling(found, kept, results)
    return tuple(abridged(attributed([told.get(item.at, item.line) for item in found], kept)))


def _results(found: Sequence[Candidate]) -> dict[int, list[int]]:
    """The places of the calls behind which something they gave stands, each with the places of that."""
    results: dict[int, list[int]] = {}
    for at, call in enumerate(calls_of([item.line for item in found])):
        if call is not None and found[at].line.kind != "call":
            results.setdefault(call, []).append(at)
    return results


def _without_bare(
    found: Sequence[Candidate], kept: Collection[int], results: Mapping[int, Sequence[int]]
) -> list[Line] | None:
    """The pieces without the results of the calls of which none is kept, told with others like them; None where there are none."""
    bare = {call: places for call, places in results.items() if not any(each in kept for each in places)}
    gone = {at for places in bare.values() for at in places}
    told = _telling(found, kept, bare)
    return gathered([told.get(item.at, item.line) for item in found if item.at not in gone]) if bare else None


def _telling(
    found: Sequence[Candidate], kept: Collection[int], results: Mapping[int, Sequence[int]]
) -> dict[int, Line]:
    """Calls whose results told an error of which nothing is kept, by their places: they say it themselves."""
    told: dict[int, Line] = {}
    errors: dict[str, str] = {}
    for call, places in results.items():
        given = [found[at].line for at in places]
        standing = [found[at].line for at in places if at in kept]
        error = errors[given[0].ref] = failure(given, errors)
        if error and not failure(standing, errors):
            told[call] = unsaid(found[call].line, error)
    return told


def _chosen(
    lines: Sequence[Line], room: Room, query: Query, pinned: frozenset[int]
) -> tuple[list[Candidate], dict[int, Line]]:
    """The pieces of some lines, and those that are kept within an allowance, by their places."""
    found = candidates(lines, query, pinned)
    kept: dict[int, Line] = {}
    for item in found:
        if item.must:
            kept.update(_with_parents(item, found, kept))
    ranked = sorted(
        (item for item in found if item.at not in kept and item.line.text != GHOST),
        key=lambda item: (-item.worth / item.line.tokens, -item.at),
    )
    spent = sum(line.tokens for line in kept.values())
    for item in ranked:
        needed = _with_parents(item, found, kept)
        price = sum([line.tokens for line in needed.values()])
        if needed and spent + price <= (room.facts if item.line.kind in ("data", "call") else room.prose):
            kept.update(needed)
            spent += price
    return found, kept


def kept_by_all(blocks: Sequence[Block], pinned: frozenset[int]) -> tuple[Line, ...]:
    """What every fold keeps, whoever wrote its summary: the user's words, and facts that later lines point at."""
    lines = [line for block in blocks for line in block.lines]
    found = candidates(lines, Query(()), pinned)
    kept: dict[int, Line] = {}
    for item in found:
        if item.must and item.line.kind != "note":
            kept.update(_with_parents(item, found, kept))
    return tuple(kept[at] for at in sorted(kept))


def _lines(block: Block) -> list[Line]:
    """The lines of a block; a tile's prose as one of them."""
    match block:
        case RawStep():
            return list(block.lines)
        case Tile():
            mark = "< " if block.untrusted else ""
            prose = f"{mark}{' '.join(block.summary.split())}"
            return [
                *([Line("say", block.id, prose, count(prose) + 1, untrusted=block.untrusted)] if block.summary else []),
                *block.lines,
            ]


def newest(lines: Sequence[Line], pinned: frozenset[int]) -> list[Line]:
    """The lines without those whose every fact stands again, newer, further on.

    Args:
        lines: a stretch in path order.
        pinned: ledger keys that later lines point at; what shows one of them stays.
    """
    kept: list[Line] = []
    later: set[int] = set()
    for line in reversed(lines):
        if (
            line.keys
            and line.kind != "user"
            and not begins(line)
            and later.issuperset(line.keys)
            and pinned.isdisjoint(line.keys)
        ):
            continue
        later.update(line.keys)
        kept.append(line)
    return kept[::-1]


def _with_parents(item: Candidate, found: Sequence[Candidate], kept: dict[int, Line]) -> dict[int, Line]:
    """A piece, and what it cannot be read without, as far as they do not stand yet."""
    if item.at not in kept and kept.keys() >= {*item.parents}:
        return {item.at: item.line}
    needed: dict[int, Line] = {}
    places = [item.at]
    while places:
        at = places.pop()
        if at not in needed and at not in kept:
            needed[at] = found[at].line
            places.extend(found[at].parents)
    return needed


def status_of(blocks: Sequence[Block]) -> Status:
    """How a stretch ended, from evidence: a failed tile at its end fails it, an unsettled step leaves it partial."""
    last = blocks[-1]
    match last:
        case Tile():
            return last.status
        case RawStep():
            return "completed" if last.settled else "partial"
