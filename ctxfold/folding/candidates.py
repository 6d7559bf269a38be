"""What a fold may keep, piece by piece: each line of a stretch, long texts cut into their own lines, each with what it is worth. It chooses nothing.

A piece is worth the values it brings that stand nowhere newer, by how surely they name something, and how it bears on what the session is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctxfold.compact.prose import values
from ctxfold.folding.relevance import Query
from ctxfold.lines import Line, LineKind
from ctxfold.tokens import count, head

__all__ = ["Candidate", "candidates", "pieces"]

_BASE: dict[LineKind, float] = {"user": 9.0, "note": 6.0, "data": 0.5, "call": 1.0, "text": 0.2, "say": 0.3}
_PIECE = 120
"""o200k tokens a piece costs at most."""
_CUT_FROM = 40
"""o200k tokens from which a text is cut into pieces."""
_RANKED = 2_000
"""Characters of a piece that are looked at to rank it."""


@dataclass(frozen=True, slots=True)
class Candidate:
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
    cut = [piece for line in lines for piece in pieces(line)]
    worth = _worths(cut, query)
    found: list[Candidate] = []
    rows: list[tuple[int, int]] = []
    places: dict[int, int] = {}
    ref, held = "", -1
    for at, line in enumerate(cut):
        if line.ref != ref:
            ref, rows, held = line.ref, [], -1
        parents = tuple(places[key] for key in line.points if key in places)
        if line.kind in ("data", "call"):
            while rows and rows[-1][0] >= line.indent:
                rows.pop()
            parents += (rows[-1][1],) if rows else ()
            rows.append((line.indent, at))
        if held >= 0 and line.indent <= held:
            held = -1
        if held < 0 and not pinned.isdisjoint(line.keys):
            held = line.indent
        places.update(dict.fromkeys(line.keys, at))
        found.append(Candidate(at, line, worth[at], parents, held >= 0 or line.kind in ("user", "note")))
    return found


def _worths(cut: Sequence[Line], query: Query) -> list[float]:
    """Newest first, so that of a value told often the newest place counts."""
    told: set[str] = set()
    found: list[float] = []
    for at in range(len(cut) - 1, -1, -1):
        line = cut[at]
        text = line.text[:_RANKED]
        fresh = values(text) - told
        told |= fresh
        bearing = _BASE[line.kind] + 4 * query.score(text) + (at + 1) / (len(cut) + 1)
        found.append(sum(map(_naming, fresh)) + bearing * (1.0 if fresh or line.kind not in ("data", "text") else 0.1))
    return found[::-1]


def _naming(value: str) -> float:
    """How surely a value names something that may be asked for again: an id more than a date, a date more than a number."""
    letters, digits = any(sign.isalpha() for sign in value), any(sign.isdigit() for sign in value)
    if letters and digits:
        return 3.0
    if "@" in value or "/" in value or "_" in value:
        return 2.0
    return 2.5 if letters else 1.0 if value.isdigit() else 1.5


def pieces(line: Line) -> Iterator[Line]:
    """A line as pieces that can be kept one by one: a long text in its own lines, each marked as the whole was; any other line as it is."""
    if line.kind in ("user", "note", "data") or line.tokens <= _CUT_FROM:
        yield line
        return
    mark, body = _opened(line)
    first = True
    for text in body.splitlines():
        if not text.strip():
            continue
        kept = head(text, _PIECE)
        shown = kept if first and not mark else f"{mark}{kept.strip() if mark == '< ' else kept}"
        yield replace(
            line, text=shown, tokens=count(shown) + 1, keys=line.keys if first and line.kind != "text" else ()
        )
        first = False


def _opened(line: Line) -> tuple[str, str]:
    """The mark each piece of a text takes, and the text without its fence."""
    if line.text.startswith("<<"):
        return "< ", line.text[line.text.index("\n") + 1 : line.text.rindex("\n")]
    if line.text.startswith("< "):
        return "< ", line.text[2:]
    return ("", line.text) if line.kind == "say" else (">   ", line.text.lstrip("> "))
