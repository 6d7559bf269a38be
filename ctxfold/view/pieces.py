"""Splits lines into the pieces they can be shortened to: sentences, cells, rows, lines of a document, each with its values and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ctxfold.log.lines import Line
from ctxfold.text.entities import entities
from ctxfold.text.sentences import Span, sentences
from ctxfold.tokens import count

__all__ = ["Piece", "cells_of", "opens", "pieces_of", "shape_of", "values_in", "words_of"]

_WORD = re.compile(r"[^\W\d_][\w'’-]{3,}|\d[\d.,:/-]*\d")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_TOLD = re.compile(r"\w")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.M | re.S)
_OPENER = re.compile(r":[*_\s]*\Z")
_VARYING = re.compile(r"(?<=: ).*|\"[^\"]*\"|'[^']*'|\S*[\d/\\]\S*|\b\w+\.\w+\b")
"""What differs among lines that are alike: what follows a name and a colon, quotations, numbers and ids, paths, names with a dot."""
_PAIR = re.compile(r"[:=] ?")
_EDGES = ".,:;!?*\"'“”‘’()[]{}"
_WHOLE_ROW = 24
"""o200k tokens up to which a row of a table stands whole or not at all."""
_WHOLE_CALL = 100
_LONG = 400
"""Characters of a sentence, a cell or a document's line that are shown or left out as one; longer ones are cut at their sentences and blanks."""
_EXACT_LINE = 16
"""Characters from which a document's line is a value of its own: an edit names it letter by letter."""
_SHAPE = 160
"""Characters of a line by which it is judged alike to others."""
_READ = 4_000
"""Characters of one piece that are looked at for values."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A part of a line that is shown or left out as one.

    Attributes:
        span: where it stands in the line's text.
        text: what is shown of it where the line is not shown whole.
        tokens: o200k tokens of that, its seam included.
        values: what a later step may have to repeat letter by letter, lower case, each with the name it stands under, or "".
        words: the words it tells, lower case.
        edge: whether it is the first or the last of its message.
        part: whether it goes on in the line or the cell of the piece before it.
    """

    span: Span
    text: str
    tokens: int
    values: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    edge: bool = False
    part: bool = False


def pieces_of(line: Line, columns: Line | None = None) -> tuple[Piece, ...]:
    """The pieces of a line, in order.

    Args:
        line: the line.
        columns: for cells of a table, the row of its columns.
    """
    return _pieces(line.kind, line.text, line.cuts, line.table, None if columns is None else cells_of(columns))


@lru_cache(maxsize=65_536)
def _pieces(
    kind: str, text: str, cuts: tuple[int, ...], table: str, columns: tuple[str, ...] | None
) -> tuple[Piece, ...]:
    match kind:
        case "user" | "say" | "note":
            return tuple(_sentences(text))
        case "text":
            return tuple(_document(text))
        case _ if "\n" in text:
            return tuple(_document(text))
        case _:
            return tuple(_row(kind, text, cuts, table, columns))


def _sentences(text: str) -> Iterator[Piece]:
    start = text.find(" ") + 1  # behind the marker
    code = [Span(*found.span()) for found in _FENCED.finditer(text, start)]
    told = [span for span in _short_spans(text, start, len(text)) if _TOLD.search(text, span.start, span.end)]
    found = list(_with_openers(text, told))
    for at, span in enumerate(found):
        said = span.of(text)
        edge = at in (0, len(found) - 1)
        prose = not any(each.start <= span.start < each.end for each in code)
        yield Piece(span, said, count(said), _values(said), words_of(said) if prose else (), edge)


def _with_openers(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Spans of a text, those that end in a colon joined with what they open: they tell nothing alone."""
    at = 0
    while at < len(spans):
        first = spans[at]
        while at + 1 < len(spans) and opens(spans[at].of(text)):
            if spans[at + 1].end - first.start > _LONG:
                break
            at += 1
        yield Span(first.start, spans[at].end)
        at += 1


def _document(text: str) -> Iterator[Piece]:
    """The lines of a document, without the fence round it."""
    at = 0
    every = text.split("\n")
    fenced = text.startswith("<<")
    for number, each in enumerate(every):
        start, at = at, at + len(each) + 1
        if not each.strip() or (number in (0, len(every) - 1) and fenced) or (number == 0 and each.startswith(">")):
            continue
        shown = each.rstrip()
        if len(shown) > _LONG:
            mark = 2 if number == 0 and text.startswith("< ") else 0
            yield from _parts(text, start + mark, start + len(shown))
            continue
        bare = shown.strip()
        whole = ((bare.lower(), ""),) if len(bare) >= _EXACT_LINE else ()
        yield Piece(Span(start, start + len(each)), shown, count(shown) + 1, whole + _values(bare), words_of(bare))


def _short_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """A stretch of a text in sentences, those that are too long for one piece cut at blanks, or where there is none anywhere."""
    for span in sentences(text[start:end]):
        at, last = start + span.start, start + span.end
        while last - at > _LONG:
            blank = text.rfind(" ", at + _LONG // 2, at + _LONG)
            cut = blank if blank > 0 else at + _LONG
            yield Span(at, cut)
            at = cut + (blank > 0)
        if at < last:
            yield Span(at, last)


def _parts(text: str, start: int, end: int) -> Iterator[Piece]:
    """A long line of a document in pieces."""
    for place, span in enumerate(_short_spans(text, start, end)):
        said = span.of(text)
        yield Piece(span, said, count(said) + 1, _values(said), words_of(said), part=place > 0)


def _row(kind: str, text: str, cuts: tuple[int, ...], table: str, columns: tuple[str, ...] | None) -> Iterator[Piece]:
    tokens = count(text) + 1
    most = _WHOLE_ROW if kind == "data" else _WHOLE_CALL
    if table == "columns":
        yield Piece(Span(0, len(text)), text, tokens)
        return
    cells = list(_spans(cuts, table))
    if not cells and len(text) > _LONG:
        yield from _parts(text, 2 if text[:2] in ("< ", "> ") else 0, len(text))
        return
    if tokens <= most or (len(cells) < 2 and len(text) <= _LONG):
        values = tuple(value for name, cell in _named(cells, text, columns) for value in _cell_values(cell, name))
        yield Piece(Span(0, len(text)), text, tokens, values or _values(text))
        return
    for span, (name, cell) in zip(cells, _named(cells, text, columns), strict=True):
        if len(cell) > _LONG:
            yield from _long_cell(text, span, name if columns is not None else "")
        elif cell:
            shown = cell if columns is None else f"{name}={cell}"
            yield Piece(span, shown, count(shown) + 1, _cell_values(cell, name))


def _long_cell(text: str, cell: Span, name: str) -> Iterator[Piece]:
    for place, span in enumerate(_short_spans(text, cell.start, cell.end)):
        said = f"{name}={span.of(text)}" if name and not place else span.of(text)
        yield Piece(span, said, count(said) + 1, _values(said), part=place > 0)


def _spans(cuts: tuple[int, ...], table: str) -> Iterator[Span]:
    """The cells between the cuts of a line."""
    seam = 2 if table == "none" else 3
    start = cuts[0] if cuts else 0
    for end in cuts[1:]:
        yield Span(start, end)
        start = end + seam


def _named(cells: list[Span], text: str, columns: tuple[str, ...] | None) -> Iterator[tuple[str, str]]:
    """The name and the text of each cell."""
    for at, span in enumerate(cells):
        cell = span.of(text)
        yield (
            columns[at] if columns is not None and at < len(columns) else cell.partition("=")[0] if "=" in cell else "",
            cell,
        )


def cells_of(line: Line) -> tuple[str, ...]:
    """The cells of a row, or the arguments of a call, as they stand."""
    return tuple(span.of(line.text) for span in _spans(line.cuts, line.table))


def _cell_values(cell: str, name: str) -> tuple[tuple[str, str], ...]:
    name = name.removeprefix("key=")
    said = cell.partition("=")[2] if cell.startswith(f"{name}=") else cell
    if said[:1] in "{[":
        return tuple(
            (value.strip(_EDGES).lower(), name) for value in re.split(r"[,=\[\]{}]\s?", said) if value.strip(_EDGES)
        )
    bare = said.strip('"')
    return ((bare.lower(), name),) if 0 < len(bare) <= 60 else _values(bare[:_READ])


@lru_cache(maxsize=16_384)
def _values(text: str) -> tuple[tuple[str, str], ...]:
    """What of a text has to be exact to be of use: ids, numbers, addresses, names; without the words round them."""
    found: dict[str, None] = {}
    for span in entities(text[:_READ]):
        value = span.of(text).strip(_EDGES)
        if " " in value or (":" in value and "//" not in value):
            value = _PAIR.split(value, maxsplit=1)[-1].strip(_EDGES + " ")
        if len(value) > 1 and (" " not in value or any(map(str.isdigit, value))):
            found[value.lower()] = None
    found.update((name[0].lower(), None) for name in _NAME.finditer(text[:_READ]))
    return tuple((value, "") for value in found)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text that tell something of it by their length, each once, lower case."""
    return tuple(dict.fromkeys(found[0].lower() for found in _WORD.finditer(text[:_READ])))


def shape_of(line: str) -> str:
    """A line of a text with a mark for all that differs among lines that are alike: the same for each of them."""
    return _without_varying(line[:_SHAPE].strip())


@lru_cache(maxsize=65_536)
def _without_varying(line: str) -> str:
    return _VARYING.sub("#", line)


def opens(text: str) -> bool:
    """Whether a text ends in a colon: it tells nothing without what it opens."""
    return _OPENER.search(text) is not None


def values_in(text: str) -> set[str]:
    """What of a text has to be exact to be of use, lower case."""
    return {value for value, _ in _values(text)}
