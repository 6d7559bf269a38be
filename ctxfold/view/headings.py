"""Says what lines and pieces of them cannot be read without: the call, the columns, the heading or the opener of a list that they stand under."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.log.lines import Line
from ctxfold.view.pieces import Piece, opens

__all__ = ["above", "columns_of", "headings"]

_ITEM = re.compile(r"([ \t]*)([-*+•|]|\d+[.)])(?=\s)")
"""How an item of a list or a row of a table begins."""


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


def _step(line: Line) -> str:
    return line.ref.partition(".")[0]
