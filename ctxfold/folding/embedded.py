"""The embedded folder: what to keep of a stretch, decided from structure and relevance alone. No model, no network, the same input the same fold.

What it keeps, in order: the user's words; facts that later lines point at; facts, newest version only; what was called; sentences that bear on the
query. It never invents a word: every line it keeps is a line, or an exact part of one, that stood there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.compact.spelled import spelled
from ctxfold.folding.ladder import clip
from ctxfold.folding.relevance import Query
from ctxfold.lines import Line
from ctxfold.text import select
from ctxfold.tokens import count
from ctxfold.workspace import Block, RawStep, Status, Tile

__all__ = ["Room", "Settings", "condense", "kept_by_all", "status_of"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How folding behaves: the AgentFold skill's parameters as numbers.

    Attributes:
        trigger: share of the budget from which the cover is consolidated.
        rest: share it is worked down to, as far as prose goes.
        facts: share that facts may fill when they alone stand above `rest`.
        least: raw steps that are folded at once, unless they are very long.
        recent: steps that always stay raw.
        micro: o200k tokens of prose a folded step keeps at most.
    """

    trigger: float = 0.70
    rest: float = 0.40
    facts: float = 0.62
    least: int = 3
    recent: int = 1
    micro: int = 120


MICRO, SAID, CALL = 32, 24, 60
"""o200k tokens an excerpt of raw text keeps at least, something said and a call at most."""
PROSE = 0.35
"""Share of a fold's allowance that raw text may take."""
_BASE = {"user": 9.0, "note": 6.0, "data": 2.0, "call": 1.5, "text": 1.0, "say": 0.5}


@dataclass(frozen=True, slots=True)
class Room:
    """What a fold may cost, in o200k tokens: prose is kept while all of it costs at most `prose`, facts and calls up to `facts`."""

    facts: int
    prose: int

    def within(self, tokens: int) -> Room:
        """The same, neither above a number of tokens."""
        return Room(max(min(self.facts, tokens), 0), max(min(self.prose, tokens), 0))


@dataclass(frozen=True, slots=True)
class _Candidate:
    at: int
    line: Line
    score: float
    parents: tuple[int, ...]
    must: bool


def condense(
    blocks: Sequence[Block], room: Room, query: Query, words: str, pinned: frozenset[int] = frozenset()
) -> tuple[Line, ...]:
    """What to keep of blocks within an allowance.

    Args:
        blocks: a contiguous stretch in path order.
        room: what the kept lines may cost; what must stay does even when it alone costs more.
        query: what the session is about now, to rank by.
        words: the same as text, to choose sentences by.
        pinned: ledger keys that later lines point at.

    Returns:
        Kept lines in their order, each with the ref it had.
    """
    lines = _newest(spelled([line for block in blocks for line in _lines(block)]), pinned)
    candidates = _candidates(lines, room.prose, query, words, pinned)
    by_place = {item.at: item for item in candidates}
    chosen: set[int] = set()
    for item in candidates:
        if item.must:
            chosen |= _with_parents(item, by_place, chosen)
    spent = sum(by_place[at].line.tokens for at in chosen)
    for item in sorted(candidates, key=lambda item: (-item.score, -item.at)):
        needed = _with_parents(item, by_place, chosen)
        price = sum(by_place[at].line.tokens for at in needed)
        if needed and spent + price <= (room.facts if item.line.kind in ("data", "call") else room.prose):
            chosen |= needed
            spent += price
    return tuple(item.line for item in candidates if item.at in chosen)


def kept_by_all(blocks: Sequence[Block], pinned: frozenset[int]) -> tuple[Line, ...]:
    """What every fold keeps, whoever wrote its summary: the user's words, and facts that later lines point at."""
    lines = [line for block in blocks for line in block.lines]
    candidates = _candidates(lines, 0, Query(()), "", pinned)
    by_place = {item.at: item for item in candidates}
    chosen: set[int] = set()
    for item in candidates:
        if item.must and item.line.kind != "note":
            chosen |= _with_parents(item, by_place, chosen)
    return tuple(lines[at] for at in sorted(chosen))


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


def _newest(lines: Sequence[Line], pinned: frozenset[int]) -> list[Line]:
    """The lines without those whose every fact stands again, newer, further on."""
    kept: list[Line] = []
    later: set[int] = set()
    for line in reversed(lines):
        if line.keys and line.kind != "user" and later.issuperset(line.keys) and pinned.isdisjoint(line.keys):
            continue
        later.update(line.keys)
        kept.append(line)
    return kept[::-1]


def _candidates(
    lines: Sequence[Line], allowance: int, query: Query, words: str, pinned: frozenset[int]
) -> list[_Candidate]:
    found: list[_Candidate] = []
    rows: list[tuple[int, int]] = []
    places: dict[int, int] = {}
    ref, held = "", -1
    room = max(MICRO, int(allowance * PROSE / max(1, sum(line.kind == "text" for line in lines))))
    for at, line in enumerate(lines):
        if line.ref != ref:
            ref, rows, held = line.ref, [], -1
        parents: tuple[int, ...] = tuple(places[key] for key in line.points if key in places)
        if line.kind in ("data", "call"):
            while rows and rows[-1][0] >= line.indent:
                rows.pop()
            parents += (rows[-1][1],) if rows else ()
            rows.append((line.indent, at))
        if held >= 0 and line.indent <= held:
            held = -1
        if held < 0 and not pinned.isdisjoint(line.keys):
            held = line.indent
        kept = _shortened(line, room, words) if held < 0 else line
        score = _BASE[line.kind] + 2 * query.score(kept.text) + (at + 1) / (len(lines) + 1)
        places.update(dict.fromkeys(line.keys, at))
        found.append(_Candidate(at, kept, score, parents, held >= 0 or line.kind in ("user", "note")))
    return found


def _shortened(line: Line, room: int, words: str) -> Line:
    match line.kind:
        case "user" | "note" | "data":
            return line
        case "call":
            return clip(line, CALL)
        case "say":
            return clip(line, SAID)
        case "text":
            return _excerpt(line, room, words)


def _excerpt(line: Line, room: int, words: str) -> Line:
    """The sentences of a raw text that bear on the query, its ref behind; the line itself when it is short."""
    if line.tokens <= room:
        return line
    body = line.text
    if body.startswith("<<"):
        body = body[body.index("\n") + 1 : body.rindex("\n")]
    elif body.startswith("< "):
        body = body[2:]
    parts = " … ".join(" ".join(span.of(body).split()) for span in select(body, words, room))
    text = f"< {parts} [{line.ref}]"
    return replace(line, text=text, tokens=count(text) + 1, keys=())


def _with_parents(item: _Candidate, by_place: dict[int, _Candidate], chosen: set[int]) -> set[int]:
    """A line and what it cannot be read without: the rows above it, the lines it points at."""
    needed: set[int] = set()
    open_places = [item.at]
    while open_places:
        at = open_places.pop()
        if at not in chosen and at not in needed:
            needed.add(at)
            open_places.extend(by_place[at].parents)
    return needed


def status_of(blocks: Sequence[Block]) -> Status:
    """How a stretch ended, from evidence: a failed tile at its end fails it, an unsettled step leaves it partial."""
    last = blocks[-1]
    match last:
        case Tile():
            return last.status
        case RawStep():
            return "completed" if last.settled else "partial"
