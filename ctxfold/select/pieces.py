"""Cuts lines, documents, rows and plain text into pieces that are shown or left out as one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from math import log2
from typing import NamedTuple, TypeVar

from ctxfold.log.lines import Line
from ctxfold.text.sentences import Span, sentences
from ctxfold.text.values import NAME, entities
from ctxfold.text.words import is_common, words
from ctxfold.tokens import count

_SAYS_SOMETHING = re.compile(r"\w")
_VARYING = re.compile(r"(?<=: ).*|\"[^\"]*\"|'[^']*'|\S*[\d/\\]\S*|\b\w+\.\w+\b")
"""The parts that differ among similar lines: text after a name and a colon, quotations, numbers, ids, paths."""
_PAIR = re.compile(r"[:=] ?")
_ITEM = re.compile(r"([ \t]*)([-*+•|]|\d+[.)])(?=\s)")
"""How an item of a list or a row of a table begins."""
_EDGES = ".,:;!?*\"'“”‘’()[]{}"
_WHOLE_ROW, _WHOLE_CALL = 24, 100
"""o200k tokens up to which a row of a table, and a call, are one piece."""
_ROW = re.compile(r"[^\n]+")
_DENSE = 3
"""Characters for a token, in a line that is not read."""
_LONG = 400
"""Characters of the longest piece; a longer sentence, cell or document line is cut at its sentences and blanks."""
_EXACT_LINE = 16
"""Characters from which a document's line is a value of its own: an edit names it letter by letter."""
_FIRST, _LAST = 8, 80
"""Words at the beginning of a line by which it is compared, and characters at its end in which its last word is."""
_SHAPE = 160
"""Characters of a line by which it is judged alike to others."""
_READ = 4_000
"""Characters of one piece that are searched for values."""
_ENDS, _RUNS = 50_000, 400
"""Characters at each end of a long message that are cut into sentences, and the number of runs between these ends."""
_ANSWER = 12
"""o200k tokens of the longest answer that is always shown with its call."""
_MARKER = 2
"""o200k tokens of the marker of a line."""
_STEP = 4
"""o200k tokens of the address that a step begins with."""

_Value = TypeVar("_Value")
Values = tuple[tuple[str, str], ...]
"""What must stay exact, in lower case, each with the name of its cell or argument, or ""."""


class Piece(NamedTuple):
    """A part of a line that is shown or left out as one.

    Attributes:
        text: its text where its line is not shown whole.
        tokens: o200k tokens of that, its seam included.
        values: the values in it that must stay exact.
        words: the words in it, lower case, each once.
        kind: the kind of its line; "head" for the beginning of a line or the address of a step, which says nothing
            alone.
        age: steps between it and the newest.
        under: places of the pieces without which it cannot be read: its call, its heading, its columns.
        group: its shape, which similar pieces share; "" for a piece that is not compared.
        share: the share of its worth that is left by the pieces of its line that have the same shape.
        odd: the bits by which it is rarer than those around it, by a word of its shape, its last word, or a cell.
        line: the place of its line; -1 for the address of a step.
        span: where it is in the text of its line.
        part: whether it continues the line or the cell of the piece before it.
    """

    text: str
    tokens: int
    values: Values = ()
    words: tuple[str, ...] = ()
    kind: str = "text"
    age: int = 0
    under: tuple[int, ...] = ()
    group: str = ""
    share: float = 1.0
    odd: float = 0.0
    line: int = 0
    span: Span = Span(0, 0)
    part: bool = False


def pieces_of_lines(lines: Sequence[Line], steps: Sequence[int] = ()) -> list[Piece]:
    """Cut full forms into sentences, cells, rows and lines of documents.

    Args:
        lines: the lines, in path order.
        steps: the place of each line's step on the path; empty where all are of one step.

    Returns:
        Pieces in text order: for each step its address, for each line of several pieces its beginning, then its pieces.
    """
    steps = steps or [0] * len(lines)
    above = find_above(lines)
    answers = _find_answers(lines, above)
    first_answers = frozenset(answers.values())
    pieces: list[Piece] = []
    anchors: list[list[int]] = []  # for each line the places of the pieces without which nothing under it can be read
    step_place = 0
    for at, (line, step) in enumerate(zip(lines, steps, strict=True)):
        age = steps[-1] - step
        if at == 0 or step != steps[at - 1]:
            step_place = len(pieces)
            pieces.append(Piece("", _STEP, kind="head", age=age, line=-1))
        over = [step_place, *(place for each in above[at] for place in anchors[each])]
        cuts = cut_line(line, columns_of(lines, above[at]))
        is_named = (line.kind == "call" and not line.depth) or (line.kind == "text" and _is_page(cuts))
        is_named |= line.kind == "data" and (line.table != "none" or not above[at])
        anchors.append([*range(len(pieces), len(pieces) + 1 + (is_named and len(cuts) > 1))])
        is_headed = len(cuts) != 1 or (at in first_answers and line.tokens > _ANSWER)
        if is_headed:
            begin = line.text[: cuts[0].span.start if cuts else 0]
            tokens = _MARKER + (count(begin) if line.cuts else 0)
            pieces.append(Piece(begin, tokens, kind="head", age=age, under=tuple(dict.fromkeys(over)), line=at))
        first = len(pieces)
        for cut, headings in zip(cuts, find_headings(line, cuts), strict=True):
            under = dict.fromkeys([*over, *anchors[at], *(first + heading for heading in headings)])
            under.pop(len(pieces), None)
            tokens = cut.tokens + (_MARKER if not is_headed and cut.span.start else 0)
            pieces.append(cut._replace(tokens=tokens, kind=line.kind, age=age, under=tuple(under), line=at))
    for place, piece in enumerate(pieces):
        call = next(iter(above[piece.line]), piece.line) if piece.kind == "call" else -1
        if call in answers:
            pieces[place] = piece._replace(under=(*piece.under, anchors[answers[call]][0]))
    return _compare_cells(pieces)


def _is_page(cuts: Sequence[Piece]) -> bool:
    """Whether a text begins with its address, as that of a page does."""
    return bool(cuts) and "://" in cuts[0].text


def pieces_of_text(text: str) -> list[Piece]:
    """Cut the text of one result into its lines, long ones at their sentences and blanks, without their values and
    words: `read_piece` adds these where they may decide.
    """
    return _compare(
        Piece(shown, len(shown) // _DENSE + 2, group=shape_of(shown), span=span, part=part)
        for span, part in _split_document(text, 0, len(text))
        for shown in (span.of(text),)
    )


def pieces_of_rows(lines: Iterable[Line]) -> list[Piece]:
    """Rows as pieces without their values and words."""
    return _compare(Piece(line.text, line.tokens, group=shape_of(line.text)) for line in lines)


def _compare(cuts: Iterable[Piece]) -> list[Piece]:
    """The pieces of one text, compared by their shapes, by the first words of these, and by their last words."""
    cuts = list(cuts)
    shapes = Counter(cut.group for cut in cuts)
    columns = [*zip_longest(*(cut.group.split(None, _FIRST)[:_FIRST] for cut in cuts))]
    columns.append(tuple(cut.text[-_LAST:].rpartition(" ")[2] for cut in cuts))
    odd = [0.0] * len(cuts)
    for column in columns:
        bits = _weigh_rarity(Counter(column))
        odd = [max(most, bits[word]) for most, word in zip(odd, column, strict=True)]
    return [cut._replace(share=shapes[cut.group] ** -0.5, odd=bits) for cut, bits in zip(cuts, odd, strict=True)]


def _compare_cells(pieces: list[Piece]) -> list[Piece]:
    """Pieces of which the rows are compared by their cells, each with those of the same name and step."""
    columns: dict[tuple[int, str], Counter[str]] = {}
    for piece in pieces:
        for value, name in piece.values if piece.kind == "data" else ():
            columns.setdefault((piece.age, name), Counter())[value] += 1
    bits = {column: _weigh_rarity(values) for column, values in columns.items() if column[1]}
    return [
        piece._replace(odd=max(bits[piece.age, name][value] if name else 0.0 for value, name in piece.values))
        if piece.kind == "data" and piece.values
        else piece
        for piece in pieces
    ]


def _weigh_rarity(times: Counter[_Value]) -> dict[_Value, float]:
    """For each of many values the bits by which it is rarer than they are on average, less where they differ anyway:
    much for one FAILED among many passed, nothing where each is another.
    """
    total = times.total()
    bits = {count: log2(total / count) for count in set(times.values())}
    mean = sum(count * bits[count] for count in times.values()) / max(total, 1)
    alike = 1 - mean / log2(total) if total > 1 else 0.0
    return {value: alike * max(0.0, bits[count] - mean) for value, count in times.items()}


def read_piece(piece: Piece) -> Piece:
    """A line of a document, or a part of one, with its tokens, values and words."""
    bare = piece.text.strip()
    exact = ((bare.lower(), ""),) if len(bare) >= _EXACT_LINE else ()
    return piece._replace(tokens=count(piece.text) + 1, values=exact + _find_values(bare), words=words_of(bare))


def pieces_of_prose(text: str) -> list[Piece]:
    """Cut a text into its sentences; headings, items of lists and rows of tables are sentences of their own."""
    return [_read(span.of(text), span) for span in _split_long(text, 0, len(text))]


@lru_cache(maxsize=65_536)
def cut_line(line: Line, columns: Line | None = None) -> tuple[Piece, ...]:
    """Cut one line into pieces that do not know the lines around it. `columns`: for cells of a table, its columns."""
    if line.kind in ("user", "say", "note"):
        return tuple(_compare(_cut_prose(line.text)))
    if line.kind == "text" or "\n" in line.text:
        return tuple(_compare(_cut_document(line.text)))
    return tuple(_cut_row(line, None if columns is None else cells_of(columns)))


def _read(text: str, span: Span, group: str = "", part: bool = False) -> Piece:
    return Piece(text, count(text) + 1, _find_values(text), words_of(text), group=group, span=span, part=part)


def _cut_prose(text: str) -> Iterator[Piece]:
    start = text.find(" ") + 1  # after the marker
    first = last = len(text)
    if len(text) > 4 * _ENDS:
        first = text.rfind(" ", start + 1, _ENDS) + 1 or _ENDS
        last = text.find(" ", len(text) - _ENDS) + 1 or len(text) - _ENDS
    yield from _cut_sentences(text, start, first)
    yield from _cut_runs(text, first, last)
    yield from _cut_sentences(text, last, len(text))


def _cut_runs(text: str, start: int, end: int) -> Iterator[Piece]:
    """The middle of a long message in few long pieces, each judged and priced by its beginning: a text of
    any length is cut in time.
    """
    size = (end - start) // _RUNS + 1
    while start < end:
        stop = min(text.find(" ", start + size, start + 2 * size) + 1 or start + size, end)
        span = Span(start, stop)
        sample = text[start : start + _LONG]
        tokens = count(sample) * (stop - start) // len(sample) + 1
        yield Piece(span.of(text), tokens, _find_values(sample), words_of(sample), group="run", span=span)
        start = stop


def _cut_sentences(text: str, start: int, end: int) -> Iterator[Piece]:
    spans = [span for span in _split_long(text, start, end) if _SAYS_SOMETHING.search(text, span.start, span.end)]
    for span in _join_openers(text, spans):
        yield _read(span.of(text), span, shape_of(span.of(text)))


def _join_openers(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Spans of a text, those that end in a colon joined with the next: they say nothing alone."""
    at = 0
    while at < len(spans):
        first = spans[at]
        while at + 1 < len(spans) and _is_opener(spans[at].of(text)) and spans[at + 1].end - first.start <= _LONG:
            at += 1
        yield Span(first.start, spans[at].end)
        at += 1


def _cut_document(text: str) -> Iterator[Piece]:
    """The lines of a document, without the fence around it or the name above it."""
    start, end = 0, len(text)
    if text.startswith(("<<", ">")):
        start = text.find("\n") + 1
        end = text.rfind("\n") if text[0] == "<" else end
    elif text.startswith("< "):
        start = 2 if len(text) > _LONG else 0
    for span, part in _split_document(text, start, end):
        shown = span.of(text)
        yield read_piece(Piece(shown, 0, group=shape_of(shown), span=span, part=part))


def _split_document(text: str, start: int, end: int) -> Iterator[tuple[Span, bool]]:
    """The lines of a stretch that say something, long ones in parts; with each whether it continues a line."""
    for row in _ROW.finditer(text, start, end):
        stop = row.start() + len(row[0].rstrip())
        if stop - row.start() > _LONG:
            yield from ((span, number > 0) for number, span in enumerate(_split_long(text, row.start(), stop)))
        elif stop > row.start():
            yield Span(row.start(), stop), False


def _split_long(text: str, start: int, end: int) -> Iterator[Span]:
    """A stretch of a text in sentences; those too long for one piece are cut at blanks, or else anywhere."""
    for span in sentences(text[start:end]):
        at, last = start + span.start, start + span.end
        while last - at > _LONG:
            blank = text.rfind(" ", at + _LONG // 2, at + _LONG)
            cut = blank if blank > 0 else at + _LONG
            yield Span(at, cut)
            at = cut + (blank > 0)
        if at < last:
            yield Span(at, last)


def _cut_long(text: str, start: int, end: int, name: str = "") -> Iterator[Piece]:
    """A long line of a document, or a long cell, in pieces. `name`: that of the cell's column."""
    for place, span in enumerate(_split_long(text, start, end)):
        yield _read(f"{name}={span.of(text)}" if name and not place else span.of(text), span, part=place > 0)


def _cut_row(line: Line, columns: tuple[str, ...] | None) -> Iterator[Piece]:
    text, tokens, span = line.text, count(line.text) + 1, Span(0, len(line.text))
    cells = list(_find_cells(line))
    if line.table == "columns":
        yield Piece(text, tokens, span=span)
        return
    if not cells and len(text) > _LONG:
        yield from _cut_long(text, 2 if text[:2] in ("< ", "> ") else 0, len(text))
        return
    named = [(_name_cell(span.of(text), at, columns), span.of(text)) for at, span in enumerate(cells)]
    if tokens <= (_WHOLE_ROW if line.kind == "data" else _WHOLE_CALL) or (len(cells) < 2 and len(text) <= _LONG):
        values = tuple(value for name, cell in named for value in _cell_values(cell, name))
        yield Piece(
            text, tokens, values or _find_values(text), words_of(text) if line.kind == "call" else (), span=span
        )
        return
    for span, (name, cell) in zip(cells, named, strict=True):
        if len(cell) > _LONG:
            yield from _cut_long(text, span.start, span.end, name if columns is not None else "")
        elif cell:
            shown = cell if columns is None else f"{name}={cell}"
            yield Piece(shown, count(shown) + 1, _cell_values(cell, name), span=span)


def _find_cells(line: Line) -> Iterator[Span]:
    """The cells between the cuts of a line."""
    seam = 2 if line.table == "none" else 3
    for number, (start, end) in enumerate(pairwise(line.cuts)):
        yield Span(start + seam if number else start, end)


def _name_cell(cell: str, at: int, columns: tuple[str, ...] | None) -> str:
    if columns is not None and at < len(columns):
        return columns[at]
    name, equals, _ = cell.partition("=")
    return name if equals else ""


def cells_of(line: Line) -> tuple[str, ...]:
    """The cells of a row, or the arguments of a call, as they are written."""
    return tuple(span.of(line.text) for span in _find_cells(line))


def _cell_values(cell: str, name: str) -> Values:
    name = name.removeprefix("key=")
    held = cell.partition("=")[2] if cell.startswith(f"{name}=") else cell
    if held[:1] in "{[":
        inner = (value.strip(_EDGES).lower() for value in re.split(r"[,=\[\]{}]\s?", held))
        return tuple((value, name) for value in inner if value)
    bare = held.strip('"')
    return ((bare.lower(), name),) if 0 < len(bare) <= 60 else _find_values(bare)


@lru_cache(maxsize=16_384)
def _find_values(text: str) -> Values:
    """What of a text has to be exact to be of use: ids, numbers, addresses, names; without the words around them."""
    found: dict[str, None] = {}
    for span in entities(text[:_READ]):
        value = span.of(text).strip(_EDGES)
        if " " in value or (":" in value and "//" not in value):
            value = _PAIR.split(value, maxsplit=1)[-1].strip(_EDGES + " ")
        if len(value) > 1 and (" " not in value or any(map(str.isdigit, value))):
            found[value.lower()] = None
    found.update((name[0].lower(), None) for name in NAME.finditer(text[:_READ]))
    return tuple((value, "") for value in found)


def words_of(text: str) -> tuple[str, ...]:
    """The stems of the words of a text that are not common in all texts, each once."""
    return tuple(dict.fromkeys(word for word in words(text[:_READ]) if not is_common(word)))


def shape_of(line: str) -> str:
    """A line with a mark for all that differs among lines that are alike: the same for each of them."""
    return _without_varying(line[:_SHAPE].strip())


@lru_cache(maxsize=65_536)
def _without_varying(line: str) -> str:
    return _VARYING.sub("#", line)


def _is_opener(text: str) -> bool:
    """Whether a text ends in a colon: it says nothing without the text after it."""
    return text.rstrip("*_ \t\r\n").endswith(":")


def values_in(text: str) -> set[str]:
    """What of a text has to be exact to be of use, lower case."""
    return {value for value, _ in _find_values(text)}


def columns_of(lines: Sequence[Line], above: tuple[int, ...]) -> Line | None:
    """The row of columns above a line; None for a line outside of a table."""
    return lines[above[-1]] if above and lines[above[-1]].table == "columns" else None


def find_headings(line: Line, cuts: Sequence[Piece]) -> Sequence[tuple[int, ...]]:
    """For each piece of a line the places, among these pieces, of those above it without which it cannot be read.

    Under a heading of a page it is the heading; for an item of a list and a row of a table in prose, the opener of the
    list and the items around it.
    """
    if line.kind == "text" and _is_page(cuts):
        return _find_page_headings(cuts)
    return _find_list_openers(line.text, cuts) if line.kind in ("user", "say", "note") else [()] * len(cuts)


def _find_list_openers(text: str, cuts: Sequence[Piece]) -> list[tuple[int, ...]]:
    """For each sentence of a message the opener of its list or table, and the items above it that are less indented."""
    above: list[tuple[int, ...]] = []
    open_items: list[tuple[int, int]] = []  # indents and places of what may have items under it
    in_table, indent, row, end = False, -1, 0, 0
    for place, cut in enumerate(cuts):
        row = text.rfind("\n", end, cut.span.start) + 1 or row
        end = cut.span.start
        item = _ITEM.match(text, row)
        begins_row = not text[row : min(cut.span.start, row + _LONG)].strip()
        is_indented = text[row : row + 1].isspace()
        is_opener = "\n" in cut.text or (item is None and (_is_opener(cut.text) or text[row : row + 1] == "#"))
        if item and begins_row and not is_opener:
            indent = len(item[1]) + (item[2] == "|" and in_table)
            open_items = [each for each in open_items if each[0] < indent]
        elif is_opener or (begins_row and not is_indented):
            indent, open_items = -1, []
        above.append(tuple(at for _, at in open_items) if item or is_indented else ())
        if is_opener or (begins_row and item):
            open_items.append((indent, place))
        in_table = item is not None and item[2] == "|"
    return above


def _find_page_headings(cuts: Sequence[Piece]) -> list[tuple[int, ...]]:
    """For each line of a page its heading."""
    above: list[tuple[int, ...]] = []
    heading: tuple[int, ...] = ()
    for place, cut in enumerate(cuts):
        is_heading = cut.text.lstrip("§ ").startswith("#")
        above.append(() if is_heading else heading)
        heading = (place,) if is_heading else heading
    return above


def find_above(lines: Sequence[Line]) -> list[tuple[int, ...]]:
    """For each line the lines that it cannot be read without.

    These are the call that it answers or is an argument of, the line that names the step of a late result, and the
    rows above it.
    """
    above: list[tuple[int, ...]] = []
    rows: list[int] = []
    call: int | None = None
    late: int | None = None
    for at, line in enumerate(lines):
        if line.kind == "data" and "." not in line.ref:  # it names the step of the late result in the next lines
            late, call = at, None
            above.append(())
            continue
        if late is not None and (line.kind not in ("data", "text") or line.ref != lines[late + 1].ref):
            late = None
        if call is not None and _step_of(lines[call]) != _step_of(line):
            call = None
        while rows and (lines[rows[-1]].ref != line.ref or lines[rows[-1]].depth >= line.depth):
            rows.pop()
        is_call = line.kind == "call" and not line.depth
        first = late if late is not None else call
        if is_call:
            above.append(())
            call = at
        elif first is None or line.kind in ("user", "say", "note"):
            above.append(tuple(rows))
        else:
            above.append((first, *rows))
        if line.kind == "data":
            rows.append(at)
    return above


def _find_answers(lines: Sequence[Line], above: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """The first line of the result of each call: a call is never shown without it."""
    answers: dict[int, int] = {}
    for at, line in enumerate(lines):
        if above[at] and line.kind in ("data", "text") and lines[above[at][0]].kind == "call":
            answers.setdefault(above[at][0], at)
    return answers


def _step_of(line: Line) -> str:
    return line.ref.partition(".")[0]
