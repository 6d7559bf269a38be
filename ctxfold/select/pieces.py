"""Lines, documents, rows and paths as pieces."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

from ctxfold.log.json import Row, inline, is_flat, parse
from ctxfold.log.lines import Line
from ctxfold.text.sentences import Span, sentences
from ctxfold.text.values import entities
from ctxfold.tokens import count

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


_DIGITS = re.compile(r"\d+")
_OUTLINE_TOLD = re.compile(r"\w")
_RECORD_END = re.compile(r"(?<=[}\])]),\s*(?=[{\[(])")
_OUTLINE_LONG = 2_000
"""Characters from which a line is read as the records it may consist of."""
_WIDE = 240
"""Characters of a line that are shown."""
_ORDINARY = 0.1
"""The share of lines unlike all others from which being unlike says nothing."""
_FIRST, _LAST = 3, 2
"""Of lines that are alike, how many at the start and at the end come before those between."""
_GOLDEN = 0.6180339887498949
_RARE = 0.03
"""The share of units that may hold a word for it to tell which of them serve a need."""
_SERVING = 12
"""Units that may come first because they serve the need."""
_LONE = 0.25
"""What a turn costs of lines unlike all others where that is ordinary: those make up the text, and what recurs is its furniture."""
_LOOKED = 2_000
"""Of a long ranking, how much is looked through for what is said again: no budget comes further."""
_AGAIN = 2
"""How often the same words stand, numbers aside, before they come last."""
_PATHS = 0.8
"""The share of lines that are paths from which a text is a listing of them."""
_LEAST = 8
"""Lines from which a listing is worth folding."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a text that is shown or left out as one, with its lines from 1 and how deep it stands. `shape`: what units that are alike have in common."""

    text: str
    first: int
    last: int
    depth: int
    shape: str


def units_of(text: str) -> list[Unit]:
    """The lines of a text that say something; of a very long line the records it consists of."""
    found: list[Unit] = []
    for number, line in enumerate(text.split("\n"), 1):
        for part in _RECORD_END.split(line) if len(line) >= _OUTLINE_LONG else (line,):
            if not _OUTLINE_TOLD.search(part[:_WIDE]):
                continue
            shown = part if len(part) <= _WIDE else f"{part[:_WIDE]}…"
            depth = len(part) - len(part.lstrip())
            found.append(Unit(shown.rstrip(), number, number, depth, shape_of(part)))
    return found


def is_listing(lines: Sequence[str]) -> bool:
    """Whether lines are paths."""
    return len(lines) >= _LEAST and sum("/" in line and " " not in line for line in lines) >= _PATHS * len(lines)


def folders(paths: Iterable[str], wide: int) -> list[Unit]:
    """A unit for each folder of some paths: its path, how many it holds, and the names as far as so many characters go."""
    inside: dict[str, list[str]] = {}
    for path in paths:
        folder, name = posixpath.split(path.rstrip("/"))
        inside.setdefault(folder, []).append(name)
    found = []
    for folder in sorted(inside):
        names, shown = inside[folder], ""
        for at, name in enumerate(names):
            if shown and len(shown) + len(name) > wide:
                shown += f", … {len(names) - at} more, the last {names[-1]}"
                break
            shown += f", {name}" if shown else name
        depth = folder.count("/")
        found.append(Unit(f"{folder or '.'}/ ({len(names)}): {shown}", 0, 0, depth, str(depth)))
    return found


def ranked(units: Sequence[Unit], need: str) -> list[int]:
    """The places of units, those first that are most worth showing to whoever needs `need`."""
    if not units:
        return []
    edges = [0, len(units) - 1]
    return list(dict.fromkeys([*edges, *_serving(units, need), *_alternating(units)]))


def _serving(units: Sequence[Unit], need: str) -> list[int]:
    """The units that hold rare words of the need, those with most of them first."""
    held: dict[int, int] = {}
    low = [unit.text.lower() for unit in units]
    for word in words_of(need)[:_SERVING]:
        places = [at for at, text in enumerate(low) if word in text]
        if len(places) <= max(_FIRST, _RARE * len(units)):
            for at in places:
                held[at] = held.get(at, 0) + 1
    return sorted(held, key=lambda at: (-held[at], at))[:_SERVING]


def _alternating(units: Sequence[Unit]) -> list[int]:
    """Units of each group of alike ones in turn, the more of a group the fewer there are; what is like nothing else counts as a group of its own, or,
    where that is common, as one with the others.
    """
    groups: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        groups.setdefault(unit.shape, []).append(at)
    lone = [places[0] for places in groups.values() if len(places) == 1]
    many = [places for places in groups.values() if len(places) > 1]
    queues = [(sqrt(len(places)), _ends_first(places)) for places in many]
    if len(lone) > _ORDINARY * len(units):
        queues.append((_LONE, _openers_first(units, lone)))
    else:
        queues += [(1.0, [at]) for at in lone]
    turns = ((turn * weight, at) for weight, queue in queues for turn, at in enumerate(queue, 1))
    return _repeated_last(units, [at for _, at in sorted(turns)])


def _repeated_last(units: Sequence[Unit], ranks: Sequence[int]) -> list[int]:
    """The same order, but for what others before it say already: it comes last."""
    told: Counter[str] = Counter()
    first: list[int] = []
    again: list[int] = []
    for at in ranks[:_LOOKED]:
        words = _DIGITS.sub("", units[at].text.strip())
        told[words] += 1
        (first if told[words] <= _AGAIN else again).append(at)
    return [*first, *ranks[_LOOKED:], *again]


def _ends_first(places: Sequence[int]) -> list[int]:
    """The first few, the last few, then those between, spread evenly."""
    if len(places) <= _FIRST + _LAST:
        return list(places)
    return [*places[:_FIRST], *places[: -_LAST - 1 : -1], *_spread(places[_FIRST:-_LAST])]


def _openers_first(units: Sequence[Unit], places: Sequence[int]) -> list[int]:
    """What opens a block, a deeper one or one behind a blank line, the shallow first and spread evenly; then the rest."""
    opening: dict[int, list[int]] = {}
    rest: list[int] = []
    for at in places:
        deeper = at + 1 < len(units) and units[at + 1].depth > units[at].depth
        apart = at > 0 and units[at].first > units[at - 1].last + 1
        if deeper or apart:
            opening.setdefault(units[at].depth, []).append(at)
        else:
            rest.append(at)
    return [*(at for depth in sorted(opening) for at in _spread(opening[depth])), *_spread(rest)]


def _spread(places: Sequence[int]) -> list[int]:
    """Places in an order whose every beginning is spread over all of them."""
    return [places[at] for at in sorted(range(len(places)), key=lambda at: (at * _GOLDEN) % 1)]


_LONGEST_ID = 48
_COLUMNS_LEAST = 4
"""Rows from which a table is one."""
_CONSTANTS = (("None", "null"), ("True", "true"), ("False", "false"))
_COLUMNS_WIDE = 400
_FEW = 6
"""Different values of a column that are counted one by one."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def tree_of(text: str) -> Any | None:
    """The tree of a text that is one JSON object or list, or one as Python prints it where that differs by its quotes alone."""
    tree = parse(text)
    if tree is not None or text[:2] not in ("[{", "{'") or '"' in text or "\\" in text:
        return tree
    spelled = text.replace("'", '"')
    for python, json in _CONSTANTS:
        spelled = spelled.replace(f": {python}", f": {json}")
    return parse(spelled)


def units_of_rows(rows: Sequence[Row]) -> list[Unit]:
    """Rows as units; rows of one table are alike, and others that name the same things. A row of very many cells is several units."""
    found = []
    for at, row in enumerate(rows):
        indent = "  " * row.depth
        if row.table != "none" or len(row.text) <= _COLUMNS_WIDE:
            shape = row.table if row.table != "none" else ",".join(cell.partition("=")[0] for cell in row.cells[:8])
            found.append(Unit(_cut(indent + row.text), at, at, row.depth, f"{row.depth} {shape}"))
            continue
        held = indent + row.head
        for cell in row.cells:
            if len(held) + len(cell) + 2 > _COLUMNS_WIDE and held.strip():
                found.append(Unit(_cut(held), at, at, row.depth, f"{row.depth} wide"))
                held = indent + "  "
            held += f"{cell}, "
        found.append(Unit(_cut(held), at, at, row.depth, f"{row.depth} wide"))
    return found


def _cut(text: str) -> str:
    return text.rstrip() if len(text) <= _COLUMNS_WIDE else f"{text[:_COLUMNS_WIDE]}…"


def largest_table(rows: Sequence[Row]) -> range | None:
    """The places of the cells of the largest table, where it makes up most of the rows."""
    heads = [at for at, row in enumerate(rows) if row.table == "columns"]
    tables = []
    for head in heads:
        end = head + 1
        while end < len(rows) and rows[end].table == "cells":
            end += 1
        tables.append(range(head + 1, end))
    largest = max(tables, key=len, default=range(0))
    return largest if len(largest) >= max(_COLUMNS_LEAST, len(rows) // 2) else None


def ids_of(rows: Sequence[Row], table: range) -> tuple[str, list[str]] | None:
    """The name and the cells of the first column of a table that tells its rows apart; None where there is none."""
    names = rows[table[0] - 1].cells
    for column, name in enumerate(names):
        cells = [rows[at].cells[column] for at in table if column < len(rows[at].cells)]
        apart = len(cells) == len(table) == len(set(cells))
        if apart and all(0 < len(cell) <= _LONGEST_ID for cell in cells):
            return name, cells
    return None


def ids_in(tree: Any) -> tuple[str, list[str]] | None:
    """What the longest list of objects in a tree is called, with the name that tells its objects apart, and that of each; None where nothing does."""
    name, longest = max(_lists(tree, ""), key=lambda each: len(each[1]), default=("", []))
    if len(longest) < _COLUMNS_LEAST:
        return None
    for key in longest[0]:
        cells = [inline(each[key]) for each in longest if is_flat(each.get(key, []))]
        if len(cells) == len(set(cells)) == len(longest) and all(0 < len(cell) <= _LONGEST_ID for cell in cells):
            return f"{name}.{key}" if name else key, cells
    return None


def _lists(tree: Any, name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each list of objects that does not stand in another, with the names that lead to it."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _lists(value, f"{name}.{key}" if name else key)
    elif isinstance(tree, list) and tree and all(isinstance(each, dict) for each in tree):
        yield name, tree


def summary_of(rows: Sequence[Row], table: range) -> str:
    """What the columns of a table hold: how often each of a few values, and from which number to which."""
    told = []
    for column, name in enumerate(rows[table[0] - 1].cells):
        cells = Counter(rows[at].cells[column] for at in table if column < len(rows[at].cells))
        if len(cells) <= _FEW < len(table) and all(len(cell) <= _LONGEST_ID for cell in cells):
            told.append(f"{name}: " + ", ".join(f"{cell} {times}" for cell, times in cells.most_common()))
        elif all(_NUMBER.fullmatch(cell) for cell in cells):
            told.append(f"{name}: {min(cells, key=float)} to {max(cells, key=float)}")
    return "; ".join(told)


def paths_of(tree: Any) -> list[str]:
    """The paths of a tree of named things that hold lists of the like, such as folders with their files; none where it is no such tree."""
    top = tree if isinstance(tree, list) else [tree]
    keys = _naming(top)
    if keys is None:
        return []
    return list(_paths(top, "", *keys))


def _naming(nodes: Sequence[Any]) -> tuple[str, str] | None:
    """Under which key a node has its name, and under which its children."""
    for node in nodes:
        if not isinstance(node, dict):
            return None
        name = next((key for key, value in node.items() if isinstance(value, str)), None)
        for key, value in node.items():
            if name is not None and isinstance(value, list) and value and _are_named(value, name):
                return name, key
    return None


def _are_named(nodes: Sequence[Any], name: str) -> bool:
    return all(
        isinstance(node, dict) and isinstance(node.get(name), str) and len(node) <= _COLUMNS_LEAST for node in nodes
    )


def _paths(nodes: Sequence[Any], above: str, name: str, below: str) -> Iterator[str]:
    for node in nodes:
        if not isinstance(node, dict) or not isinstance(node.get(name), str):
            continue
        path = f"{above}{node[name]}"
        children = node.get(below)
        if isinstance(children, list):
            yield f"{path}/"
            yield from _paths(children, f"{path}/", name, below)
        else:
            yield path


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
