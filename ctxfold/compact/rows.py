"""JSON as keyed rows: one row an object, one table a list of alike objects, shared paths and columns written once.

What stands unchanged in the view already becomes a ref; an object that changed shows what changed and what it was; an object whose columns stand
there already shows its values alone. It decides nothing about budgets: every fact of the value is in the rows or at the end of a ref.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxfold.compact.cells import cell, is_flat, pair, word
from ctxfold.compact.tables import Table, cells_of, dittoed, table_of
from ctxfold.ledger import (
    Known,
    Ledger,
    canonical,
    canonical_key,
    content_key,
    header_key,
    identity,
    identity_key,
    shape_key,
)

__all__ = ["Row", "rows"]

_WORTH_A_REF = 45
"""Characters of canonical JSON below which a ref would cost as much as the value."""
_INLINE = 90
"""Characters up to which a nested value stays in its parent's row."""
_WORTH_COLUMNS = 4
"""Cells from which naming another row's columns is cheaper than writing them."""
_SAID_AGAIN = 40
"""Characters of a row from which its second standing in one record is called by its name."""
_SHORT = 72
"""Characters up to which a row of a table stands on the line of the row before it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of facts.

    Attributes:
        text: its text without marker.
        indent: how deep it stands under the row it belongs to.
        keys: the ledger keys it settles.
        points: those it points at by ref.
        joined: whether it stands on the line of the row before it.
    """

    text: str
    indent: int
    keys: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    joined: bool = False


def rows(value: Any, past: Ledger, label: str = "") -> list[Row]:
    """Render a JSON value.

    Args:
        value: the parsed value.
        past: what stands in the view already.
        label: words that open the first row.

    Returns:
        Rows in order; never empty.
    """
    return list(_Pass(past).value(value, _At(label)))


@dataclass(frozen=True, slots=True)
class _At:
    """Where a value stands: the words before it, its indent and path, whether an object that names itself holds it, whose columns it uses."""

    label: str
    indent: int = 0
    path: str = ""
    owned: bool = False
    like: str = ""

    def under(self, name: str, owned: bool, like: str) -> _At:
        return _At(f"{word(name)}:", self.indent + 1, f"{self.path}.{name}", owned, like)

    def row(self, words: Iterable[str], keys: Iterable[int] = (), points: Iterable[int] = ()) -> Row:
        return Row(" ".join(part for part in (self.label, *words) if part), self.indent, tuple(keys), tuple(points))


@dataclass(frozen=True, slots=True)
class _Pass:
    """One walk over one record's value."""

    past: Ledger
    said: dict[int, str] = field(default_factory=dict)
    """Content keys of rows of this record, with what they are called."""
    above: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Shapes of objects of this record, with the cells of the newest."""
    headers: set[int] = field(default_factory=set)
    """Headers that stand in this record."""
    spelt: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By identity of a node of the value, its canonical form and content key: each is asked for many times."""

    def spelling(self, value: Any) -> tuple[str, int]:
        """The canonical form of a node and its content key."""
        made = self.spelt.get(id(value))
        if made is None:
            text = self.composed(value)
            made = self.spelt[id(value)] = (text, canonical_key(text))
        return made

    def composed(self, value: Any) -> str:
        """The canonical form of a node, put together from those of the nodes inside it."""
        match value:
            case list() if not all(map(is_flat, value)):
                return f"[{','.join(self.inside(child) for child in value)}]"
            case dict() if not all(map(is_flat, value.values())):
                return f"{{{','.join(f'{canonical(name)}:{self.inside(value[name])}' for name in sorted(value))}}}"
            case _:
                return canonical(value)

    def inside(self, value: Any) -> str:
        return canonical(value) if is_flat(value) else self.spelling(value)[0]

    def value(self, value: Any, at: _At) -> Iterator[Row]:
        known = self.known(value)
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

    def keys(self, value: Any, at: _At) -> tuple[int, ...]:
        text, key = self.spelling(value)
        own = (key,) if len(text) >= _WORTH_A_REF else ()
        named = None if at.owned else identity_key(value, at.path)
        return own if named is None else (*own, named)

    # Objects

    def object(self, value: dict[str, Any], at: _At) -> Iterator[Row]:
        keys = self.keys(value, at)
        owned = at.owned or identity(value) is not None
        changed = None if at.owned else _changed(value, self.past, at.path)
        if changed is not None:
            yield at.row((_name(value), *changed.cells, f"rest ={changed.ref}"), keys, changed.points)
            for name, child in changed.deep:
                yield from self.value(child, at.under(name, owned, ""))
            return
        cells, deep = cells_of(value)
        shape = shape_key(cells)
        known = self.past.find(shape) if len(cells) >= _WORTH_COLUMNS else None
        if len(cells) >= _WORTH_COLUMNS and shape in self.above:
            yield at.row(("as above:", dittoed(list(cells.values()), self.above[shape])), keys)
            below, known = replace(at, like="above"), Known("above", dict)
        elif known is not None and isinstance(anchor := known.value, dict):
            above = list(cells_of(anchor)[0].values())
            yield at.row((f"as {known.ref}:", dittoed(list(cells.values()), above)), keys, (shape,))
            below = replace(at, like=known.ref)
        else:
            yield from self.pairs(value, at, (*keys, shape) if len(cells) >= _WORTH_COLUMNS else keys, deep)
            below = at
        self.above[shape] = tuple(cells.values())
        for name in deep:
            groups = _alike(value[name])
            if groups:
                yield from self.keyed(groups, below.under(name, owned, below.like), value[name])
            elif known is not None or self.inline(name, value[name]) is None:
                yield from self.value(value[name], below.under(name, owned, below.like))

    def keyed(self, groups: Iterable[dict[str, Any]], at: _At, value: dict[str, Any]) -> Iterator[Row]:
        """An object that holds records under their names: a table for each shape, the name its first column."""
        yield at.row((), self.keys(value, at))
        for group in groups:
            made = [
                {"": name, **{key: cell for key, cell in child.items() if cell != name}}
                for name, child in group.items()
            ]
            table = table_of(made)
            if table is None:
                for name, child in group.items():
                    yield replace(
                        _At(self.inline(name, child) or "", at.indent + 1).row((), self.keys(child, at)), joined=True
                    )
                continue
            header = _At("", at.indent + 1).row((table.header.removeprefix('""|') + ":",))
            yield replace(header, joined=True)
            for child, text in zip(group.values(), table.lines, strict=True):
                yield replace(_At("", at.indent + 1).row((text,), self.keys(child, at)), joined=True)

    def pairs(self, value: dict[str, Any], at: _At, keys: Iterable[int], deep: Sequence[str]) -> Iterator[Row]:
        """An object's cells as `name=value`, what is short and nested among them."""
        words: list[str] = []
        points: list[int] = []
        empty = False
        for name, child in value.items():
            if child is None or child == [] or child == {}:
                empty = True
                continue
            text = pair(name, child) if is_flat(child) else None if _alike(child) else self.inline(name, child)
            if text is not None:
                words.append(text)
                if name in deep and self.known(child) is not None:
                    points.append(self.spelling(child)[1])
        yield at.row((*words, "…") if empty else words, keys, points)

    def inline(self, name: str, value: Any) -> str | None:
        """A child short enough to stand in its parent's row, or None."""
        known = self.known(value)
        if known is not None:
            return " ".join(part for part in (f"{word(name)}:", _name(value), f"={known.ref}") if part)
        match value:
            case dict() if (
                all(is_flat(child) for child in value.values()) and len(self.spelling(value)[0]) <= 2 * _INLINE
            ):
                return f"{word(name)}({' '.join(pair(key, child) for key, child in value.items() if child != name)})"
            case [dict() as only] if (
                only and all(is_flat(child) for child in only.values()) and len(self.spelling(only)[0]) <= 2 * _INLINE
            ):
                return f"{word(name)}[{' '.join(pair(key, child) for key, child in only.items())}]"
            case list() if all(is_flat(child) for child in value) and len(self.spelling(value)[0]) <= 4 * _INLINE:
                return f"{word(name)}=[{', '.join(cell(child) for child in value)}]"
            case _:
                return None

    # Lists and tables

    def items(self, value: list[Any], at: _At) -> Iterator[Row]:
        if all(is_flat(child) for child in value):
            yield at.row((f"[{', '.join(cell(child) for child in value)}]",), self.keys(value, at))
            return
        table = table_of(value)
        if table is not None:
            yield from self.table(table, list(value), at, self.keys(value, at))
            return
        if len(value) > 1 and all(isinstance(child, list) and child for child in value):
            flat = [row for child in value for row in child]
            table = table_of(flat)
            if table is not None:
                numbers = [number for number, group in enumerate(value, 1) for _ in group]
                yield from self.table(table, flat, at, self.keys(value, at), numbers)
                return
        yield at.row((f"{len(value)} items",), self.keys(value, at))
        for child in value:
            yield from self.value(child, _At("-", at.indent + 1, at.path, at.owned))

    def table(
        self, table: Table, value: list[Any], at: _At, keys: Iterable[int], groups: Sequence[int] = ()
    ) -> Iterator[Row]:
        header = header_key(at.path, table.header)
        known = self.past.find(header)
        opening = f"{groups[-1]} groups" if groups else ""
        if header in self.headers:
            yield at.row((opening,), keys)
        elif known is None:
            yield at.row((opening, table.header), (*keys, header))
        else:
            yield at.row((opening, "" if known.ref == at.like else f"as {known.ref}:"), keys, (header,))
        self.headers.add(header)
        joined = all(len(text) <= _SHORT for text in table.lines)
        for place, (child, text) in enumerate(zip(value, table.lines, strict=True)):
            mark = f"{groups[place]}) " if groups else ""
            key = self.spelling(child)[1]
            if key in self.said and len(text) > _SAID_AGAIN:
                yield Row(f"{mark}{self.said[key]} (as above)", at.indent + 1, (), (key,), joined)
                continue
            self.said[key] = _name(child) or text.split("|")[0]
            yield Row(mark + text, at.indent + 1, self.keys(child, at), (), joined)


def _alike(value: Any) -> list[dict[str, Any]]:
    """An object of records, in groups of like columns; none when it is not one, or nothing in it is alike."""
    if not isinstance(value, dict) or len(value) < 2 or not all(map(_record, value.values())):
        return []
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for name, child in value.items():
        groups.setdefault(tuple(key for key, cell in child.items() if cell != name), {})[name] = child
    return list(groups.values()) if len(groups) < len(value) else []


def _record(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(is_flat(child) for child in value.values())


def _name(value: Any) -> str:
    named = identity(value)
    return cell(named[1]) if named else ""


@dataclass(frozen=True, slots=True)
class _Change:
    cells: tuple[str, ...]
    deep: tuple[tuple[str, Any], ...]
    ref: str
    points: tuple[int, ...]


def _changed(value: dict[str, Any], past: Ledger, path: str) -> _Change | None:
    """What differs from the newest version of the same object, when that is the shorter thing to say."""
    named = identity(value)
    key = identity_key(value, path)
    before = past.find(key) if key is not None else None
    old = before.value if before is not None else None
    if named is None or before is None or not isinstance(old, dict):
        return None
    both = {**old, **value}
    fields = [
        name for name in both if (name in old) != (name in value) or canonical(old[name]) != canonical(value[name])
    ]
    if len(fields) * 2 > len(value):
        return None
    cells: list[str] = []
    deep: list[tuple[str, Any]] = []
    for name in fields:
        if name not in value:
            cells.append(f"{word(name)} gone")
        elif is_flat(value[name]):
            was = f" (was {cell(old[name])})" if name in old and is_flat(old[name]) else ""
            cells.append(pair(name, value[name]) + was)
        else:
            deep.append((name, value[name]))
    return _Change(tuple(cells), tuple(deep), before.ref, (content_key(old),))
