"""Chosen pieces as text, every gap marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ctxfold.log.lines import Line
from ctxfold.select import HEAD, Chosen, Stretch
from ctxfold.select.pieces import Piece, cells_of, pieces_of

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
    gone = {line.ref for line, places in zip(stretch.lines, chosen.kept, strict=True) if line.depth and not places}
    for line, places, whole in zip(stretch.lines, chosen.kept, stretch.whole, strict=True):
        if line.table == "columns":
            columns = line
        if whole:
            made.append(line)
        elif places:
            pieces = pieces_of(line, columns if line.table == "cells" else None)
            lacks = line.ref in gone and line.kind == "call" and bool(line.cuts)
            made.append(_short(line, pieces, places) if lacks or not _is_whole(line, pieces, places) else line)
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
            cells = cells_of(line) if len(kept) == len(pieces) == 1 else _cells(line, pieces, kept)
            return line.reworded(_head(line, pieces) + ", ".join([*cells, GAP]) + ")")
        case "data":
            row = _head(line, pieces) + ", ".join(_cells(line, pieces, kept))
            return line.reworded(_marked(row) if len(kept) < len(pieces) else row.rstrip())
        case "stub":
            return line
        case _:
            assert_never(line.kind)


def _prose(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> str:
    """Sentences as they stand, one mark where others stood between them, and a row of its own for each that begins one."""
    text, at = "", pieces[0].span.start if pieces else 0
    for piece in kept:
        between = line.text[at : piece.span.start]
        if between.strip():
            text = _marked(text) + ("\n" if text and between.rstrip(" \t").endswith("\n") else " ")
        else:
            text += between
        text += piece.text
        at = piece.span.end
    return _marked(text) if pieces and at < pieces[-1].span.end else text


def _marked(text: str) -> str:
    """A text with a mark at its end, once."""
    text = text.rstrip()
    return text if text.endswith(GAP) else f"{text} {GAP}".lstrip()


def _head(line: Line, pieces: Sequence[Piece]) -> str:
    """What stands before the first cell of a line; all of it where it has one piece and no cells."""
    if line.cuts:
        return line.text[: line.cuts[0]]
    return line.text[: pieces[0].span.start] if len(pieces) > 1 else line.text


def _cells(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece]) -> list[str]:
    """Cells as they stand, within a long one a mark where something is left out."""
    return [text for text in _runs(line, pieces, kept) if text != GAP]


def _document(line: Line, pieces: Sequence[Piece], kept: Sequence[Piece], head: str) -> str:
    """Lines of a document as they stand, a mark on its own line where others stood between them, and within a long one where it stood; a single line
    with its marks beside it.
    """
    rows = _runs(line, pieces, kept)
    if head != "< ":
        return head + "\n".join(rows)
    if len(kept) == 1:
        return f"< {' '.join(rows)}"
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
