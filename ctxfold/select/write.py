"""Writes chosen pieces as text and marks every gap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxfold.log.lines import Line
from ctxfold.select.pieces import LineCut, Piece, cells_of, columns_of, cut_line, find_above

GAP = "…"
"""Marks a gap."""


def write(lines: Sequence[Line], pieces: Sequence[Piece], chosen: Iterable[int]) -> list[Line]:
    """The lines of which pieces were chosen, each gap in them marked.

    Args:
        lines: all lines.
        pieces: their pieces, as `pieces_of_lines` gives them.
        chosen: the places of the chosen pieces.
    """
    kept: dict[int, set[int]] = {}
    for place in chosen:
        if pieces[place].line >= 0:
            kept.setdefault(pieces[place].line, set()).add(
                pieces[place].span.start if pieces[place].kind != "head" else -1
            )
    above = find_above(lines)
    gone = {line.ref for at, line in enumerate(lines) if line.depth and at not in kept}
    made: list[Line] = []
    for at in sorted(kept):
        line, cuts = lines[at], cut_line(lines[at], columns_of(lines, above[at]))
        places = [place for place, cut in enumerate(cuts) if cut.span.start in kept[at]]
        lacks = line.ref in gone and line.kind == "call" and bool(line.cuts)
        whole = len(places) == len(cuts) and not lacks and (line.table != "cells" or len(cuts) == 1)
        made.append(line if whole else _shorten_line(line, cuts, places))
    return made


def _shorten_line(line: Line, cuts: Sequence[LineCut], places: Sequence[int]) -> Line:
    if line.kind == "stub":
        return line
    if line.kind in ("user", "say", "note"):
        marker = line.text[: line.text.find(":") + 1]
        return line.reword(f"{marker} {_write_prose(line, cuts, places)}")
    if line.kind == "text":
        return line.reword(_write_document(line, cuts, places))
    if line.kind == "call" and line.depth:
        return line.reword("\n".join([line.text.partition("\n")[0], *_write_runs(line, cuts, places)]))
    cells = _write_cells(line, cuts, places)
    if line.kind == "call":
        cells = list(cells_of(line)) if len(places) == len(cuts) == 1 else cells
        return line.reword(_write_head(line, cuts) + ", ".join([*cells, GAP]) + ")")
    row = _write_head(line, cuts) + ", ".join(cells)
    return line.reword(_mark_end(row) if len(places) < len(cuts) else row.rstrip())


def _write_prose(line: Line, cuts: Sequence[LineCut], places: Sequence[int]) -> str:
    """Sentences as they are, one mark for each gap, and a row of its own for each that begins one."""
    text, at = "", cuts[0].span.start if cuts else 0
    for place in places:
        span = cuts[place].span
        between = line.text[at : span.start]
        if between.strip():
            text = _mark_end(text) + ("\n" if text and between.rstrip(" \t").endswith("\n") else " ")
        else:
            text += between
        text += cuts[place].text
        at = span.end
    return _mark_end(text) if cuts and at < cuts[-1].span.end else text


def _mark_end(text: str) -> str:
    """A text with a mark at its end, once."""
    text = text.rstrip()
    return text if text.endswith(GAP) else f"{text} {GAP}".lstrip()


def _write_head(line: Line, cuts: Sequence[LineCut]) -> str:
    """What is before the first cell of a line; all of it where it has one piece and no cells."""
    if line.cuts:
        return line.text[: line.cuts[0]]
    return line.text[: cuts[0].span.start] if len(cuts) > 1 else line.text


def _write_cells(line: Line, cuts: Sequence[LineCut], places: Sequence[int]) -> list[str]:
    """Cells as they are, a mark inside a long one where something is left out."""
    return [text for text in _write_runs(line, cuts, places) if text != GAP]


def _write_document(line: Line, cuts: Sequence[LineCut], places: Sequence[int]) -> str:
    """Lines of a document as they are, a mark on its own line for each gap; a single line has its marks in it."""
    rows = _write_runs(line, cuts, places)
    text = (" " if len(places) == 1 else "\n").join(rows)
    return f"< {text}" if len(text.splitlines()) <= 1 else f"<<{line.ref}\n{text}\n{line.ref}>>"


def _write_runs(line: Line, cuts: Sequence[LineCut], places: Sequence[int]) -> list[str]:
    """The lines or cells of which pieces are chosen, with marks for the gaps inside and between them."""
    rows: list[str] = []
    before = -1
    for at in places:
        first = at
        while cuts[first].part and first > before + 1:
            first -= 1
        if cuts[first].part and rows:
            rows[-1] += line.text[cuts[before].span.end : cuts[at].span.start] if at == before + 1 else f" {GAP} "
            rows[-1] += cuts[at].text
        else:
            rows += [GAP] if first != before + 1 else []
            rows.append(cuts[at].text if first == at else f"{GAP} {cuts[at].text}")
        before = at
    if before + 1 < len(cuts):
        if cuts[before + 1].part and rows:
            rows[-1] += f" {GAP}"
        if any(not cut.part for cut in cuts[before + 1 :]):
            rows.append(GAP)
    return rows
