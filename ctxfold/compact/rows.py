"""JSON as keyed rows: one row an object, one table a list of alike objects, shared paths written once.

What stands unchanged in the view already becomes a ref; an object that changed shows what changed and what it was.
It decides nothing about budgets: every fact of the value is in the rows or at the end of a ref.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctxfold.compact.cells import cell, is_flat, pair, word
from ctxfold.ledger import Known, Ledger, canonical, content_key, identity, identity_key

__all__ = ["Row", "rows"]

_WORTH_A_REF = 24
"""Characters of canonical JSON below which a ref would cost as much as the value."""
_INLINE = 90
"""Characters up to which a nested value stays in its parent's row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of facts: its text without marker, how deep it is indented, the ledger keys it settles and those it points at by ref."""

    text: str
    indent: int
    keys: tuple[int, ...]
    points: tuple[int, ...] = ()


def rows(value: Any, past: Ledger, label: str = "") -> list[Row]:
    """Render a JSON value.

    Args:
        value: the parsed value.
        past: what stands in the view already.
        label: words that open the first row.

    Returns:
        Rows in order; never empty.
    """
    return list(_rows(value, past, label, 0, ""))


def _rows(value: Any, past: Ledger, label: str, indent: int, path: str) -> Iterator[Row]:
    seen = _stands(value, past)
    if seen is not None:
        yield Row(_words(label, _name(value), f"={seen.ref}"), indent, (), (content_key(value),))
        return
    match value:
        case dict() if value:
            yield from _object(value, past, label, indent, path)
        case list() if value:
            yield from _list(value, past, label, indent, path)
        case _:
            yield Row(_words(label, cell(value)), indent, ())


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _name(value: Any) -> str:
    named = identity(value)
    return cell(named[1]) if named else ""


def _stands(value: Any, past: Ledger) -> Known | None:
    if is_flat(value) or len(canonical(value)) < _WORTH_A_REF:
        return None
    return past.find(content_key(value))


def _keys(value: Any, path: str) -> tuple[int, ...]:
    own = (content_key(value),) if len(canonical(value)) >= _WORTH_A_REF else ()
    named = identity_key(value, path)
    return own if named is None else (*own, named)


def _object(value: dict[str, Any], past: Ledger, label: str, indent: int, path: str) -> Iterator[Row]:
    keys = _keys(value, path)
    changed = _changed(value, past, path)
    if changed is not None:
        yield Row(_words(label, _name(value), *changed.cells, f"rest ={changed.ref}"), indent, keys, changed.points)
        for name, child in changed.deep:
            yield from _rows(child, past, _key_label(name), indent + 1, f"{path}.{name}")
        return
    short: list[str] = []
    deep: list[tuple[str, Any]] = []
    inner: list[int] = []
    points: list[int] = []
    for name, child in value.items():
        inline = _inline(name, child, past)
        if inline is None:
            deep.append((name, child))
        else:
            short.append(inline)
            if not is_flat(child):
                (points if _stands(child, past) else inner).extend(_keys(child, f"{path}.{name}"))
    if short or label or not deep:
        yield Row(_words(label, *short), indent, (*keys, *inner), tuple(points))
        indent += 1
        keys = ()
    for name, child in deep:
        for row in _rows(child, past, _key_label(name), indent, f"{path}.{name}"):
            yield Row(row.text, row.indent, (*keys, *row.keys), row.points)
            keys = ()


def _key_label(name: str) -> str:
    return f"{word(name)}:"


def _inline(name: str, value: Any, past: Ledger) -> str | None:
    """A child short enough to stand in its parent's row, or None."""
    if is_flat(value):
        return pair(name, value)
    seen = _stands(value, past)
    if seen is not None:
        return _words(f"{word(name)}:", _name(value), f"={seen.ref}")
    if len(canonical(value)) > _INLINE:
        return None
    if isinstance(value, dict) and all(is_flat(child) for child in value.values()):
        return f"{word(name)}({' '.join(pair(key, child) for key, child in value.items() if child != name)})"
    if isinstance(value, list) and all(is_flat(child) for child in value):
        return f"{word(name)}=[{', '.join(cell(child) for child in value)}]"
    return None


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
    if named is None or before is None or not isinstance(before.value, dict):
        return None
    old: dict[str, Any] = before.value
    fields = [
        name
        for name in {**old, **value}
        if canonical(old.get(name)) != canonical(value.get(name)) or (name in old) != (name in value)
    ]
    if len(fields) * 2 > len(value) or any(
        identity({name: value.get(name)}) and name.lower().endswith("id") for name in fields
    ):
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


def _list(value: list[Any], past: Ledger, label: str, indent: int, path: str) -> Iterator[Row]:
    if all(is_flat(child) for child in value):
        yield Row(_words(label, f"[{', '.join(cell(child) for child in value)}]"), indent, _keys(value, path))
        return
    fresh = [child for child in value if _stands(child, past) is None]
    table = _Table.of(fresh) if len(fresh) == len(value) else None
    if table is not None:
        yield Row(_words(label, table.header), indent, _keys(value, path))
        for child, text in zip(value, table.lines, strict=True):
            yield Row(text, indent + 1, _keys(child, path))
        return
    keys = _keys(value, path)
    if label or len(value) > 1:
        yield Row(_words(label, f"{len(value)} items"), indent, keys)
        indent += 1
        keys = ()
    for child in value:
        for row in _rows(child, past, "-", indent, path):
            yield Row(row.text, row.indent, (*keys, *row.keys), row.points)
            keys = ()


@dataclass(frozen=True, slots=True)
class _Table:
    """A list of alike objects: a header with what all share, then a line of cells each."""

    header: str
    lines: tuple[str, ...]

    @staticmethod
    def of(value: list[Any]) -> _Table | None:
        """The table of a list of two or more flat-enough objects with the same columns, or None."""
        if len(value) < 2 or not all(isinstance(child, dict) and child for child in value):
            return None
        flat = [_columns(child) for child in value]
        names = list(flat[0] or ())
        if not names or any(columns is None or list(columns) != names for columns in flat):
            return None
        grid = [columns for columns in flat if columns is not None]
        same = [name for name in names if len(grid) > 2 and len({canonical(columns[name]) for columns in grid}) == 1]
        kept = [name for name in names if name not in same] or names[:1]
        shared = " ".join(pair(".".join(name), grid[0][name]) for name in same if name not in kept)
        header = _words(f"all {shared};" if shared else "", "|".join(_grouped(kept)))
        return _Table(header, tuple("|".join(cell(columns[name], free=True) for name in kept) for columns in grid))


def _columns(value: dict[str, Any]) -> dict[tuple[str, ...], Any] | None:
    """The cells of an object by column path, nested objects of scalars included; None when something does not fit a cell."""
    cells: dict[tuple[str, ...], Any] = {}
    for name, child in value.items():
        if is_flat(child):
            cells[(name,)] = child
        elif isinstance(child, dict) and all(is_flat(inner) for inner in child.values()):
            cells.update({(name, key): inner for key, inner in child.items()})
        else:
            return None
    return cells


def _grouped(names: list[tuple[str, ...]]) -> Iterator[str]:
    """Column names with a shared parent written once: `prices(economy|business)`."""
    at = 0
    while at < len(names):
        path = names[at]
        end = at + 1
        if len(path) == 1:
            yield word(path[0])
        else:
            while end < len(names) and len(names[end]) > 1 and names[end][0] == path[0]:
                end += 1
            yield f"{word(path[0])}({'|'.join(word(name[1]) for name in names[at:end])})"
        at = end
