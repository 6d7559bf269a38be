"""Shortens lines to the pieces chosen of them, and marks each gap at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ctxfold.log.lines import Line
from ctxfold.view.choose import HEAD, Chosen, Stretch
from ctxfold.view.pieces import Piece, pieces_of

__all__ = ["GAP", "shortened"]

GAP = "…"
"""Stands where something was left out."""


def shortened(stretch: Stretch, chosen: Chosen) -> list[Line]:
    """The lines of a stretch as they stand after a choice; those that stand whole included.

    Args:
        stretch: the lines.
        chosen: what was chosen of each.
    """
    made: list[Line] = []
    columns: Line | None = None
    for line, places, whole in zip(stretch.lines, chosen.kept, stretch.whole, strict=True):
        if line.table == "columns":
            columns = line
        if whole:
            made.append(line)
        elif places:
            pieces = pieces_of(line, columns if line.table == "cells" else None)
            made.append(line if _is_whole(line, pieces, places) else _short(line, pieces, places))
    return made


def _is_whole(line: Line, pieces: Sequence[Piece], places: Sequence[int]) -> bool:
    """Whether nothing of a line is left out; long cells of a table stand with the names of their columns all the same."""
    return len(places) == len(pieces) and HEAD not in places and (line.table != "cells" or len(pieces) == 1)


def _short(line: Line, pieces: Sequence[Piece], places: Sequence[int]) -> Line:
    kept = [pieces[place] for place in places if place != HEAD]
    match line.kind:
        case "user" | "say" | "note":
            marker = line.text[: line.text.find(":") + 1]
            return line.reworded(f"{marker} {_prose(line, pieces, kept)}")
        case "text":
            return line.reworded(_document(line, pieces, kept, "< "))
        case "call" if line.depth:
            return line.reworded(_document(line, pieces, kept, line.text.partition("\n")[0] + "\n"))
        case "call":
            return line.reworded(_head(line, pieces) + ", ".join([*_cells(line, pieces, kept), GAP]) + ")")
        case "data":
            head = _head(line, pieces)
            return line.reworded(head + ", ".join(_cells(line, pieces, kept)) if kept else head.rstrip())
        case "stub":
            return line
        case _:
            assert_never(line.kind)


def _prose(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> str:
    """Sentences as they stand, a mark where others stood between them."""
    text, at = "", pieces[0].span.start if pieces else 0
    for piece in kept:
        between = line.text[at : piece.span.start]
        if between.strip():
            text += f" {GAP} " if text else f"{GAP} "
        else:
            text += between
        text += piece.text
        at = piece.span.end
    return text + (f" {GAP}" if pieces and at < pieces[-1].span.end else "")


def _head(line: Line, pieces: Sequence[Piece]) -> str:
    """What stands before the first cell of a line; all of it where it has one piece and no cells."""
    if line.cuts:
        return line.text[: line.cuts[0]]
    return line.text[: pieces[0].span.start] if len(pieces) > 1 else line.text


def _cells(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> list[str]:
    """Cells as they stand, within a long one a mark where something is left out."""
    return [text for text in _runs(line, pieces, kept) if text != GAP]


def _document(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece], head: str) -> str:
    """Lines of a document as they stand, a mark on its own line where others stood between them, and within a long one where it stood."""
    rows = _runs(line, pieces, kept)
    if head != "< ":
        return head + "\n".join(rows)
    text = "\n".join(rows)
    return f"< {text}" if len(text.splitlines()) <= 1 else f"<<{line.ref}\n{text}\n{line.ref}>>"


def _runs(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> list[str]:
    """The lines or cells of which pieces are kept, with the marks for what is left out within and between them."""
    rows: list[str] = []
    before = -1
    order = {id(piece): at for at, piece in enumerate(pieces)}
    for piece in kept:
        at = order[id(piece)]
        first = at
        while pieces[first].part and first > before + 1:
            first -= 1
        within = pieces[first].part
        if within and rows:
            rows[-1] += line.text[pieces[before].span.end : piece.span.start] if at == before + 1 else f" {GAP} "
            rows[-1] += piece.text
        else:
            rows += [GAP] if first != before + 1 else []
            rows.append(piece.text if first == at else f"{GAP} {piece.text}")
        before = at
    if before + 1 < len(pieces):
        if pieces[before + 1].part:
            rows[-1] += f" {GAP}"
        if any(not piece.part for piece in pieces[before + 1 :]):
            rows.append(GAP)
    return rows
