"""JSON as keyed rows: one row an object, one table a list of alike objects, shared paths and columns written once.

What stands unchanged in the view already becomes a ref; an object that changed shows what changed and what it was; an object whose columns stand
there already shows its values alone. It decides nothing about budgets: every fact of the value is in the rows or at the end of a ref.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxfold.log.compact.cells import ABOVE, Spelling, all_flat, cell, is_flat, listed, pair, word
from ctxfold.log.compact.changed import changed
from ctxfold.log.compact.ditto import dittoed, first_cell
from ctxfold.log.compact.placed import At, Header, Row
from ctxfold.log.compact.tables import (
    Cells,
    Group,
    Reader,
    Table,
    bracketed,
    cells_of,
    columns_of,
    group_of,
    in_groups,
    is_empty,
    table_of,
)
from ctxfold.log.facts import Known, Ledger, header_key, identity, identity_key, named_key, shape_key

__all__ = ["Row", "rows", "rows_of", "within"]

_WORTH_A_REF = 45
"""Characters of canonical JSON below which a ref would cost as much as the value."""
_WORTH_COLUMNS = 4
"""Cells from which naming another row's columns is cheaper than writing them."""
_SAID_AGAIN = 40
"""Characters of a row from which its second standing in one record is called by its name."""
_SHORT = 72
"""Characters up to which a row of a table stands on the line of the row before it."""


_TELLING = re.compile(r"(?=.*[^\W\d])(?=.*\d).{3,16}")
"""A name that a row is called by: a number alone names many things."""


def rows(value: Any, past: Ledger, label: str = "") -> list[Row]:
    """Render a JSON value.

    Args:
        value: the parsed value.
        past: what stands in the view already.
        label: words that open the first row.

    Returns:
        Rows in order; never empty.
    """
    return next(rows_of(((label, value),), past))


def rows_of(values: Iterable[tuple[str, Any]], past: Ledger) -> Iterator[list[Row]]:
    """Render the values of one record, each readable on its own; none calls by its name a row of another record that an earlier one bears too.

    Args:
        values: words that open the first row of each, and the value.
        past: what stands in the view already.
    """
    walk = _Pass(past)
    for label, value in values:
        yield list(replace(walk, above={}, headers=set()).value(value, At(label)))


def within(name: str, value: Any, past: Ledger) -> Row | None:
    """A nested value short enough to stand in the row of what holds it; or None.

    Args:
        name: what it is called there.
        value: the parsed value.
        past: what stands in the view already.
    """
    walk = _Pass(past)
    whole = {name: value}
    cells = cells_of(whole)
    if cells.deep and walk.known(value) is None:
        return None
    known = walk.known(value)
    text = walk.inline(name, value)
    if known is not None:
        return Row(text, 1, (), (walk.spelling(value)[1],), joined=True)
    return Row(text, 1, tuple(walk.held(whole, cells, At(""))), (), joined=True)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One walk over one record's value."""

    past: Ledger
    said: dict[int, str] = field(default_factory=dict)
    """Content keys of rows of this record, with what they are called."""
    newest: dict[str, int] = field(default_factory=dict)
    """What rows of this record are called, with the content key of the newest so called."""
    above: dict[int, tuple[int, Header]] = field(default_factory=dict)
    """By indent the shape of the object whose row is the last there, and the row that names its columns: what a reader finds right above."""
    headers: set[int] = field(default_factory=set)
    """Headers that stand in this record."""
    names: set[str] = field(default_factory=set)
    """What the rows of this record are called: none of them calls a row of another record any more."""
    spelling: Spelling = field(default_factory=Spelling)
    """Each node is asked for many times."""
    reader: Reader = field(default_factory=Reader)
    """What does not fit a cell becomes a table."""

    def value(self, value: Any, at: At) -> Iterator[Row]:
        known = self.known(value)
        if known is not None or not isinstance(value, dict) or not value:
            self.above.pop(at.indent, None)
        if known is not None:
            yield at.row((_name(value), f"={known.ref}"), (), (self.spelling(value)[1],))
            return
        match value:
            case dict() if value:
                yield from self.object(value, at)
            case list() if value:
                yield from self.items(value, at)
            case _:
                yield at.row((cell(value),))

    def known(self, value: Any) -> Known | None:
        if is_flat(value):
            return None
        text, key = self.spelling(value)
        return self.past.find(key) if len(text) >= _WORTH_A_REF else None

    def keys(self, value: Any, at: At) -> tuple[int, ...]:
        return _keys_of(self.spelling(value), None if at.owned else identity(value), value, at.path)

    # Objects

    def object(self, value: dict[str, Any], at: At) -> Iterator[Row]:
        keys = self.keys(value, at)
        owned = at.owned or identity(value) is not None
        change = None if at.owned else changed(value, self.past, at.path)
        if change is not None:
            self.above.pop(at.indent, None)
            self.names.add(_name(value))
            yield at.row((_name(value), *change.cells, "rest as before"), keys, change.points)
            for name, child in change.deep:
                yield from self.value(child, at.under(name, owned, ""))
            return
        cells = cells_of(value, self.reader)
        shape = shape_key(cells.texts)
        header = self.header(shape, at.indent) if len(cells) >= _WORTH_COLUMNS else None
        self.names.add(_name(value))
        lends = header is not None or all(self.known(value[name]) is None for name in _inner(cells))
        if header is not None:
            below = replace(at, like=header.ref)
            yield self.alike(value, cells, header, below, keys)
        else:
            own = (*keys, *self.held(value, cells, at))
            yield self.pairs(value, cells, at, (*own, shape) if len(cells) >= _WORTH_COLUMNS and lends else own)
            below = at
        self.above.pop(at.indent, None)
        if lends:
            self.above[at.indent] = shape, header or Header(ABOVE, columns_of(value, cells), cells, (shape,))
        for name in cells.deep:
            if header is None and self.known(value[name]) is not None:
                continue
            groups = in_groups(value[name])
            if groups:
                yield from self.keyed(groups, below.under(name, owned, below.like), value[name])
            else:
                yield from self.value(value[name], below.under(name, owned, below.like))

    def header(self, shape: int, indent: int) -> Header | None:
        """The row whose columns an object of a shape can use: the one right above it in its record, else the newest that stands in the view."""
        last = self.above.get(indent)
        if last is not None and last[0] == shape and last[1].ref not in self.names:
            return last[1]
        known = self.past.find(shape)
        if known is None or not isinstance(known.value, dict):
            return None
        cells = cells_of(known.value)
        return Header(self.called(known), columns_of(known.value, cells), cells, (shape,))

    def called(self, known: Known) -> str:
        """What a row is called: its own name, where that is one of letters and digits and no newer row has it, else its address."""
        name, key = _name(known.value), identity_key(known.value)
        newest = self.past.find(key) if key is not None and _TELLING.fullmatch(name) else None
        return name if newest is not None and newest.ref == known.ref and name not in self.names else known.ref

    def alike(self, value: dict[str, Any], cells: Cells, header: Header, at: At, keys: Iterable[int]) -> Row:
        """An object's values alone, under the columns of another: what is the same there is a ditto mark, a list that stands elsewhere a ref.

        What has no column there stands behind them with its name. Below the columns of its own record there are no ditto marks: a fold may
        leave out the row before it.
        """
        texts: list[str] = []
        points = list(header.points)
        for path in header.columns:
            text, up, group = cells.texts[path], header.cells.texts[path], cells.groups.get(path)
            known = self.known(value[path[0]]) if group and text != up else None
            if known is not None:
                text = f"={known.ref}"
                points.append(self.spelling(value[path[0]])[1])
            elif group and group != header.cells.groups.get(path, group):
                text = bracketed(value[path[0]])
            texts.append(text)
        words = dittoed(texts, None if header.ref == ABOVE else [header.cells.texts[path] for path in header.columns])
        more = {path[0]: value[path[0]] for path in cells.texts if path not in header.columns}
        rest = self.pairs(more, cells, At(""), ())
        own = (*keys, *self.held(value, cells, at))
        return at.row((f"as {header.ref}:", words, rest.text), own, (*points, *rest.points))

    def held(self, value: dict[str, Any], cells: Cells, at: At) -> Iterator[int]:
        """The ledger keys of what stands inside an object's row: objects in it, its lists of records, and each of them."""
        owned = at.owned or identity(value) is not None
        for name in _inner(cells):
            text, key = self.spelling(value[name])
            if len(text) >= _WORTH_A_REF and self.known(value[name]) is None:
                yield key
        for (name,) in cells.groups:
            if self.known(value[name]) is not None:
                continue
            inner = at.under(name, owned, "")
            yield from self.keys(value[name], inner)
            for child in value[name]:
                yield from self.keys(child, inner)

    def keyed(self, groups: Iterable[Group], at: At, value: dict[str, Any]) -> Iterator[Row]:
        """An object that holds records under their names: a table for each shape, the name its first column."""
        yield at.row((), self.keys(value, at))
        for records, table in groups:
            if table is None:
                for name, child in records.items():
                    inline = At(self.inline(name, child) or "", at.indent + 1)
                    yield inline.row((), self.keys(child, at))._replace(joined=True)
                continue
            header = At("", at.indent + 1).row((table.header.removeprefix('"" ') + ":",))
            yield header._replace(joined=True)
            for child, text in zip(records.values(), table.lines, strict=True):
                yield At("", at.indent + 2).row((text,), self.keys(child, at))._replace(joined=True)

    def pairs(self, value: dict[str, Any], cells: Cells, at: At, keys: Iterable[int]) -> Row:
        """An object's cells as `name=value`, what is short and nested among them."""
        words: list[str] = []
        points: list[int] = []
        empty = False
        for name, child in value.items():
            if is_empty(child):
                empty = True
            elif name not in cells.deep or self.known(child) is not None:
                words.append(self.inline(name, child))
                if self.known(child) is not None:
                    points.append(self.spelling(child)[1])
        return at.row((*words, "…null") if empty else words, keys, points)

    def inline(self, name: str, value: Any) -> str:
        """A child as it stands in its parent's row."""
        known = self.known(value)
        if known is not None:
            return " ".join(part for part in (f"{word(name)}:", _name(value), f"={known.ref}") if part)
        match value:
            case dict() if value:
                return f"{word(name)}({' '.join(pair(key, child) for key, child in value.items() if child != name)})"
            case list() if value and not all_flat(value):
                return f"{word(name)}{self.listed(value)}"
            case list() if value:
                return f"{word(name)}={listed(value)}"
            case _:
                return pair(name, value)

    # Lists and tables

    def listed(self, value: list[dict[str, Any]]) -> str:
        """A short list of records in brackets; one that stands elsewhere as a ref."""
        known = self.known(value[0]) if len(value) == 1 else None
        return bracketed(value) if known is None else f"[{_name(value[0])} ={known.ref}]"

    def items(self, value: list[Any], at: At) -> Iterator[Row]:
        if all_flat(value):
            yield at.row((listed(value),), self.keys(value, at))
            return
        table = table_of(value, self.reader)
        if table is not None:
            yield from self.table(table, value, at, self.keys(value, at))
            return
        if len(value) == 1 and group_of(value) is not None:
            yield at.row((self.listed(value),), (*self.keys(value, at), *self.keys(value[0], at)))
            return
        if len(value) > 1 and all(isinstance(child, list) and child for child in value):
            flat = [row for child in value for row in child]
            table = table_of(flat)
            if table is not None:
                numbers = [number for number, group in enumerate(value, 1) for _ in group]
                yield from self.table(table, flat, at, self.keys(value, at), numbers)
                return
        yield at.row(("1 item" if len(value) == 1 else f"{len(value)} items",), self.keys(value, at))
        for child in value:
            yield from self.value(child, At("-", at.indent + 1, at.path, at.owned))

    def table(
        self, table: Table, value: list[Any], at: At, keys: Iterable[int], groups: Sequence[int] = ()
    ) -> Iterator[Row]:
        header = header_key(at.path, table.header)
        known = self.past.find(header)
        opening = f"{groups[-1]} groups" if groups else ""
        if header in self.headers:
            yield at.row((opening,), keys)
        elif known is None:
            yield at.row((opening, f"{table.header}:"), (*keys, header))
        else:
            yield at.row((opening, "" if known.ref == at.like else f"as {known.ref}:"), keys, (header,))
        self.headers.add(header)
        joined = max(map(len, table.lines)) <= _SHORT
        called, said, indent, mark = False, self.said, at.indent + 1, ""
        for place, (child, line, whole) in enumerate(zip(value, table.lines, table.whole, strict=True)):
            if groups:
                mark = f"{groups[place]}) "
            spelled = self.spelling(child)
            key = spelled[1]
            text = whole if called else line
            called = len(whole) > _SAID_AGAIN and key in said and self.newest[said[key]] == key
            if called:
                yield Row(f"{mark}{said[key]} (as above)", indent, (), (key,), joined)
                continue
            named = identity(child)
            name = cell(named[1]) if named else ""
            self.names.add(name)
            said[key] = name or first_cell(whole)
            self.newest[said[key]] = key
            keys = _keys_of(spelled, None if at.owned else named, child, at.path)
            yield Row(mark + text, indent, keys, (), joined)


def _keys_of(spelled: tuple[str, int], named: tuple[str, str] | None, value: Any, path: str) -> tuple[int, ...]:
    """The ledger keys that a node settles, its canonical form with its key and the identity it goes by at hand."""
    own = (spelled[1],) if len(spelled[0]) >= _WORTH_A_REF else ()
    return own if named is None else (*own, named_key(named, value, path))


def _inner(cells: Cells) -> Iterable[str]:
    """The names of the objects inside an object that stand in its row."""
    return dict.fromkeys(name for name, *inner in cells.texts if inner)


def _name(value: Any) -> str:
    named = identity(value)
    return cell(named[1]) if named else ""
