"""Writes chosen pieces as text and marks every gap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, groupby

from ctxfold.log.lines import Line
from ctxfold.select.pieces import Piece, cells_of

GAP = "…"
"""Marks a gap."""
_LONG = 60
"""o200k tokens from which a shortened line has its ref at a gap."""


def write(lines: Sequence[Line], pieces: Sequence[Piece], chosen: Iterable[int]) -> list[Line]:
    """The lines of which pieces were chosen, each gap in them marked.

    Args:
        lines: all lines.
        pieces: their pieces, as `pieces_of_lines` gives them.
        chosen: the places of the chosen pieces.
    """
    chosen = sorted(chosen)
    shown = {pieces[place].line for place in chosen}
    gone = {line.ref for at, line in enumerate(lines) if line.depth and at not in shown}
    written: list[Line] = []
    for at, group in groupby(chosen, lambda place: pieces[place].line):
        if at < 0:
            continue
        line, first = lines[at], next(group)
        start, end = _find_line(pieces, first)
        cuts, places = pieces[start:end], [place - start for place in (first, *group) if place >= start]
        lacks_argument = line.ref in gone and line.kind == "call" and bool(line.cuts)
        is_whole = len(places) == len(cuts) and not lacks_argument and (line.table != "cells" or len(cuts) == 1)
        written.append(line if is_whole else _shorten_line(line, cuts, places))
    return written


def write_each(
    lines: Sequence[Line], pieces: Sequence[Piece], chosen: Iterable[int], owners: Sequence[int], many: int
) -> list[list[Line]]:
    """The lines of which pieces were chosen, as `write` gives them, in a list for each of `many` owners.

    `owners`: of each line the number of its owner, from 0.
    """
    places = sorted(chosen)
    numbers = sorted({pieces[place].line for place in places} - {-1})
    written: list[list[Line]] = [[] for _ in range(many)]
    for number, line in zip(numbers, write(lines, pieces, places), strict=True):
        written[owners[number]].append(line)
    return written


def _find_line(pieces: Sequence[Piece], place: int) -> tuple[int, int]:
    """Where the pieces of a line begin, without its head, and end."""
    start, end, line = place, place + 1, pieces[place].line
    while start and pieces[start - 1].line == line:
        start -= 1
    while end < len(pieces) and pieces[end].line == line:
        end += 1
    return start + (pieces[start].kind == "head"), end


def _shorten_line(line: Line, cuts: Sequence[Piece], places: Sequence[int]) -> Line:
    """A line of which some pieces are shown, a mark for each gap. A long one has its ref at the last of them."""
    if line.kind == "stub":
        return line
    if line.kind in ("user", "say", "note"):
        marker = line.text[: line.text.find(":") + 1]
        return _add_ref(line.reword(f"{marker} {_write_prose(line, cuts, places)}"))
    rows = write_rows(line.text, cuts, places)
    if line.kind == "text":
        text = (" " if len(places) == 1 else "\n").join(rows)
        if len(text.splitlines()) > 1:  # at other ends of lines than ours too: no row may pose as a speaker's
            return line.reword(f"<<{line.ref}\n{text}\n{line.ref}>>")
        return _add_ref(line.reword(f"< {text.removeprefix('< ')}"))
    if line.kind == "call" and line.depth:
        return line.reword("\n".join([line.text.partition("\n")[0], *rows]))
    start = line.text[: line.cuts[0] if line.cuts else cuts[0].span.start] if places or line.cuts else "< "
    if line.kind == "call":
        cells = cells_of(line) if len(places) == len(cuts) == 1 else [row for row in rows if row != GAP]
        return line.reword(start + ", ".join([*cells, GAP]) + ")")
    text = start + ", ".join(row for row in rows if row != GAP)
    return line.reword(_mark_end(text) if len(places) < len(cuts) else text.rstrip())


def _add_ref(line: Line) -> Line:
    """A shortened line with its ref once, at the last gap, if it is long: there the ref costs little."""
    ref = f" ({line.ref})"
    before, mark, after = line.text.replace(f"{GAP}{ref}", GAP).rpartition(GAP)
    return line.reword(f"{before}{mark}{ref}{after}") if mark and line.tokens >= _LONG else line


def _write_prose(line: Line, cuts: Sequence[Piece], places: Sequence[int]) -> str:
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


def write_rows(
    text: str,
    cuts: Sequence[Piece],
    places: Sequence[int],
    numbers: Sequence[int] = (),
    mark_gap: Callable[[int, int], str] = lambda _first, _end: GAP,
) -> list[str]:
    """Write the lines or cells of which pieces are chosen, with marks for the gaps in them and between them.

    Args:
        text: the text of which the pieces were cut.
        cuts: all its pieces.
        places: the chosen ones, in text order.
        numbers: the number of the line of each piece, from 1, and one more than the last; empty to count them.
        mark_gap: writes the mark for the lines from a first number up to, not with, another.
    """
    if not numbers:
        counted = [0, *accumulate(not cut.part for cut in cuts)]
        numbers = [*counted[1:], counted[-1] + 1]
    rows: list[str] = []
    last, number = -1, 0  # the piece before, and its line
    for at in (*places, len(cuts)):
        if last >= 0 and numbers[at] == number:
            rows[-1] += text[cuts[last].span.end : cuts[at].span.start] if at == last + 1 else f" {GAP} "
            rows[-1] += cuts[at].text
        else:
            if last >= 0 and numbers[last + 1] == number:
                rows[-1] += f" {GAP}"
            if numbers[at] > number + 1:
                rows.append(mark_gap(number + 1, numbers[at]))
            if at < len(cuts):
                rows.append(f"{GAP} {cuts[at].text}" if cuts[at].part else cuts[at].text)
        last, number = at, numbers[at]
    return rows
