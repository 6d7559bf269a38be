"""Says how lines and their pieces belong together: the call, the columns, the heading or opener they stand under, the answer that goes with a call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ctxfold.log.lines import Line
from ctxfold.view.pieces import Piece, opens, words_of

__all__ = ["above", "asked_of", "columns_of", "headings", "short_answers"]

_ITEM = re.compile(r"([ \t]*)([-*+•|]|\d+[.)])(?=\s)")
"""How an item of a list or a row of a table begins."""
_ANSWER = 12
"""o200k tokens up to which the answer of a call stands wherever the call does."""


def columns_of(lines: Sequence[Line], above: tuple[int, ...]) -> Line | None:
    """The row of columns among what a line stands under; None for another line."""
    return lines[above[-1]] if above and lines[above[-1]].table == "columns" else None


def headings(line: Line, pieces: Sequence[Piece]) -> list[frozenset[int]]:
    """Of each piece of a page or of prose the places of the pieces that say what it belongs to; nothing for any other line.

    Args:
        line: the line.
        pieces: its pieces.

    Returns:
        For a line of a text that begins with its address, as that of a page does, the heading it stands under; for an item of a list and a row of a table
        in prose, what opens the list and the item it stands under.
    """
    match line.kind:
        case "text":
            return _page_headings(pieces)
        case "user" | "say" | "note":
            return _list_openers(line.text, pieces)
        case _:
            return []


def _list_openers(text: str, pieces: Sequence[Piece]) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    under: list[tuple[int, int]] = []  # of what a next item may stand under, how deep it is and its place
    table, depth = False, -1
    for place, piece in enumerate(pieces):
        start = text.rfind("\n", 0, piece.span.start) + 1
        row = text[start : piece.span.end]
        item = _ITEM.match(row)
        begins = not text[start : piece.span.start].strip()
        opener = "\n" in piece.text or (item is None and (opens(row) or row.startswith("#")))
        if item and begins and not opener:
            depth = len(item[1]) + (item[2] == "|" and table)
            under = [each for each in under if each[0] < depth]
        elif opener or (begins and not row[:1].isspace()):
            depth, under = -1, []
        found.append(frozenset(at for _, at in under) if item or row[:1].isspace() else frozenset())
        if opener or (begins and item):
            under.append((depth, place))
        table = item is not None and item[2] == "|"
    return found


def _page_headings(pieces: Sequence[Piece]) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    under: frozenset[int] = frozenset()
    for place, piece in enumerate(pieces if pieces and "://" in pieces[0].text else ()):
        heads = piece.text.lstrip("§ ").startswith("#")
        found.append(frozenset() if heads else under)
        under = frozenset({place}) if heads else under
    return found


def above(lines: Sequence[Line]) -> list[tuple[int, ...]]:
    """Of each line the lines it cannot be read without: the call that it answers or is an argument of, what says of which step a late result is, and
    the rows it stands under.
    """
    found: list[tuple[int, ...]] = []
    rows: list[int] = []
    call: int | None = None
    late: int | None = None
    for at, line in enumerate(lines):
        if line.kind == "data" and "." not in line.ref:
            late, call = at, None
            found.append(())
            continue
        if late is not None and (line.kind not in ("data", "text") or line.ref != lines[late + 1].ref):
            late = None
        if call is not None and _step(lines[call]) != _step(line):
            call = None
        while rows and (lines[rows[-1]].ref != line.ref or lines[rows[-1]].depth >= line.depth):
            rows.pop()
        if line.kind == "call" and not line.depth:
            found.append(())
            call = at
            continue
        spoken = line.kind in ("user", "say", "note")
        first = late if late is not None else call
        found.append(tuple(rows) if first is None or spoken else (first, *rows))
        if line.kind == "data":
            rows.append(at)
    return found


def asked_of(
    lines: Sequence[Line],
    above: Sequence[tuple[int, ...]],
    pieces: Sequence[Sequence[Piece]],
    under: Sequence[Sequence[frozenset[int]]],
) -> dict[int, dict[int, float]]:
    """Of each page its pieces that hold words of the call it came to: how many, each shared among all pieces of the page that hold it.

    `above` and `under`: what each line and each of its pieces stand under.
    """
    found: dict[int, dict[int, float]] = {}
    for at, over in enumerate(above):
        if over and lines[at].kind == "text" and under[at]:
            wanted = frozenset(words_of(lines[over[0]].text))
            held = [wanted.intersection(piece.words) for piece in pieces[at]]
            times = Counter(word for words in held for word in words)
            found[at] = {place: sum(1 / times[word] for word in words) for place, words in enumerate(held) if words}
    return found


def short_answers(
    lines: Sequence[Line], above: Sequence[tuple[int, ...]], pieces: Sequence[Sequence[Piece]]
) -> dict[int, int]:
    """Of each call that one short line of one piece answers the place of that line: the call tells little without it. `above`: what each stands under."""
    found: dict[int, list[int]] = {}
    for at, line in enumerate(lines):
        if above[at] and line.kind in ("data", "text"):
            found.setdefault(above[at][0], []).append(at)
    alone = {call: each[0] for call, each in found.items() if len(each) == 1}
    return {call: at for call, at in alone.items() if len(pieces[at]) == 1 and lines[at].tokens <= _ANSWER}


def _step(line: Line) -> str:
    return line.ref.partition(".")[0]
