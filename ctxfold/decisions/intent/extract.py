"""The embedded extractor: what of the log serves the open to-do, the latest message and the constraints. No model, no network.

Structured records are chosen by object and field, and an object never goes without what names it and those around it; texts by sentence, with neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.decisions.intent.likeness import content, overlap
from ctxfold.decisions.intent.selections import OVERHEAD
from ctxfold.decisions.intent.sources import Source
from ctxfold.log.compact.cells import Spelled, parse
from ctxfold.log.facts import identity
from ctxfold.text import BM25, best_line, query_words, select, words
from ctxfold.tokens import count
from ctxfold.workspace.intent import Extract, Item

__all__ = ["chosen"]

_WHOLE = 90
"""o200k tokens up to which an object is taken whole."""
_SHORT = 24
"""o200k tokens up to which a field that nobody asked for goes with its object."""
_FIELDS = 6
_FAINT = 0.3
_UNITS = 6_000
_READ = 400_000
_SHARE = 48
_LINE = 4_000
"""Characters of a line of a long record that may be taken."""


@dataclass(frozen=True, slots=True)
class _Field:
    first: int
    last: int
    text: str
    telling: bool = True


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is taken or left as one: ranges of lines, or one slice of them, and the words it is judged by."""

    source: Source
    ranges: tuple[tuple[int, int], ...]
    said: str
    path: str = ""
    name: str = ""
    slice: str = ""


def chosen(query: str, sources: Sequence[Source], items: Sequence[Item], budget: int, shown: str = "") -> list[Extract]:
    """The parts of records that fit a query best, within a budget.

    Args:
        query: what is wanted, in words.
        sources: records to choose from, the newest first.
        items: the open items, to say which one an extract serves.
        budget: o200k tokens that all of it may cost.
        shown: what a view shows anyway: nothing all of whose words stand there is chosen.

    Returns:
        Extracts in the order of the log; empty when nothing has to do with the query.
    """
    wanted = query_words(query)
    standing, telling = (
        frozenset(words(shown)),
        frozenset(word for word in wanted if len(word) > 3 or not word.isdigit()),
    )
    units: list[_Unit] = []
    named: set[str] = set()
    texts = sum(parse(source.text) is None for source in sources)
    for source in sources:
        if len(units) > _UNITS:
            break
        if len(source.text) > _READ:
            units += () if shown else _of_long(source, wanted)
            continue
        tree = parse(source.text)
        found = (
            _of_text(source, query, max(_SHARE, budget // max(texts, 1)) - 2 * OVERHEAD)
            if tree is None
            else _of_tree(source, wanted, standing)
        )
        for unit in found:
            if shown and not _adds(unit, standing, telling):
                continue
            if unit.name not in named or not unit.name:
                units.append(unit)
                named.add(unit.name)
    scores = BM25([words(unit.said) for unit in units]).scores(wanted)
    if not any(scores):
        scores = BM25([words(unit.path) for unit in units]).scores(wanted)
    least = max(scores, default=0.0) * _FAINT
    ranked = sorted((at for at, score in enumerate(scores) if score > least), key=lambda at: (-scores[at], at))
    taken: list[tuple[tuple[int, int, int], Extract]] = []
    spent = 0
    seen: set[tuple[str, int, int]] = set()
    for at in ranked:
        made = [extract for extract in _extracts(units[at], items) if (extract[1].ref, *extract[0][:2]) not in seen]
        price = sum(count(extract.text) + OVERHEAD for _, extract in made)
        if made and spent + price <= budget:
            taken += made
            seen |= {(extract.ref, *place[:2]) for place, extract in made}
            spent += price
    return _united(sorted(taken, key=lambda each: each[0]), {source.ref: source for source in sources})


def _adds(unit: _Unit, standing: frozenset[str], telling: frozenset[str]) -> bool:
    """Whether a unit says what stands nowhere yet, and shares more with the query than a small number."""
    said = words(unit.said)
    return not telling.isdisjoint(said) and not standing.issuperset(said)


def _united(taken: Sequence[tuple[tuple[int, int, int], Extract]], sources: dict[str, Source]) -> list[Extract]:
    """Extracts whose lines overlap or touch as one."""
    made: list[Extract] = []
    for _, extract in taken:
        ref, _, lines = extract.ref.partition(":")
        first, last = map(int, lines.split("-"))
        before, _, there = made[-1].ref.partition(":") if made else ("", "", "0-0")
        low, high = map(int, there.split("-"))
        if before == ref and first <= high + 1 and not extract.part and not made[-1].part:
            high = max(high, last)
            made[-1] = replace(made[-1], ref=f"{ref}:{low}-{high}", text=sources[ref].slice(low, high))
        else:
            made.append(extract)
    return made


def _extracts(unit: _Unit, items: Sequence[Item]) -> Iterator[tuple[tuple[int, int, int], Extract]]:
    source = unit.source
    about = content(unit.said)
    shares = [(overlap(about, content(item.text)), -at) for at, item in enumerate(items)]
    best = max(shares, default=(0.0, 0))
    todo = items[-best[1]].id if best[0] > 0 else None
    for first, last in unit.ranges:
        whole = source.slice(first, last)
        part = bool(unit.slice) and unit.slice != whole
        text = unit.slice if part else whole
        yield (
            (source.step, source.k, first),
            Extract(f"{source.ref}:{first}-{last}", text, todo=todo, untrusted=source.untrusted, part=part),
        )


def _of_text(source: Source, query: str, share: int) -> Iterator[_Unit]:
    """The sentences of a text that bear on the query, each with the lines it stands on: whole lines where they cost little more."""
    held = set(query_words(query))
    if held.isdisjoint(words(source.text)):
        return
    for span in select(source.text, query, share):
        first = source.text.count("\n", 0, span.start) + 1
        last = source.text.count("\n", 0, span.end) + 1
        text = span.of(source.text)
        if len(source.slice(first, last)) <= 2 * len(text) + 40:
            yield _Unit(source, ((first, last),), text)
        else:
            yield _Unit(source, ((first, last),), text, slice=text)


def _of_long(source: Source, wanted: Sequence[str]) -> Iterator[_Unit]:
    """The line of a long record that is nearest to the query, where that is short enough to be taken."""
    at, _ = best_line(source.lines, frozenset(wanted))
    line = source.lines[at]
    if len(line) <= _LINE and not frozenset(wanted).isdisjoint(words(line)):
        yield _Unit(source, ((at + 1, at + 1),), line)


def _of_tree(source: Source, wanted: Sequence[str], standing: frozenset[str]) -> Iterator[_Unit]:
    """The objects of a structured record as units: whole when small, else what names them and the fields that bear on the query.

    Of an object of which most stands in the view anyway, only what does not, beside what names it.
    """
    asked = set(wanted)
    for first, last, path, fields, names, node in _objects(parse(source.text)):
        named = identity(node)
        said = " ".join(field.text for field in fields)
        name = f"{path}|{named[0]}={named[1]}" if named else ""
        if asked.isdisjoint(words(said)) and asked.isdisjoint(words(path)):
            yield _Unit(source, (), said, path, name)  # counted for how rare the words of others are, never chosen
            continue
        absent = [field for field in fields if field.telling and not standing.issuperset(words(field.text))]
        if standing and 2 * len(absent) <= len(fields):
            kept = [(field.first, field.last) for field in _beside(absent, [])]
            own = [(field.first, field.last) for field in fields if named and field.text.startswith(f"{named[0]} ")]
            yield _Unit(source, _joined([*kept, *own, *names]) if kept else (), said, path, name)
            continue
        whole = source.slice(first, last)
        if len(whole) <= _WHOLE * 8 and count(whole) <= _WHOLE:
            kept = [(first, last)]
        else:
            telling = [field for field in fields if asked & set(words(field.text))] or list(fields[:_FIELDS])
            kept = [(field.first, field.last) for field in _beside(fields, telling)]
            kept += [(field.first, field.last) for field in fields if named and field.text.startswith(f"{named[0]} ")]
        yield _Unit(source, _joined([*kept, *names]), said, path, name)


def _beside(fields: Sequence[_Field], telling: Sequence[_Field]) -> list[_Field]:
    """The fields that bear on the query, and beside them the short ones of the same object, as far as a whole object may cost."""
    kept = list(telling)
    left = _WHOLE - sum(_cost(field) for field in telling)
    for field in fields:
        if field not in telling and (price := _cost(field)) <= min(left, _SHORT):
            kept.append(field)
            left -= price
    return kept


def _cost(field: _Field) -> int:
    return count(field.text) + 4 if len(field.text) <= _WHOLE * 8 else len(field.text)


def _joined(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    made: list[tuple[int, int]] = []
    for first, last in sorted(set(ranges)):
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    return tuple(made)


def _objects(
    tree: Any,
) -> Iterator[tuple[int, int, str, tuple[_Field, ...], tuple[tuple[int, int], ...], Any]]:
    """Every object with values of its own: its lines, its path, its fields, the lines that name those around it, and itself."""
    stack: list[tuple[Any, int, str, tuple[tuple[int, int], ...]]] = [(tree, 1, "", ())]
    while stack:
        node, line, path, names = stack.pop()
        at = line + 1
        fields: list[_Field] = []
        inner: list[tuple[Any, int, str]] = []
        for key, child in node.items() if isinstance(node, dict) else ((None, child) for child in node):
            size = _height(child)
            if key is not None and _plain(child):
                fields.append(_Field(at, at + size - 1, f"{key} {_said(child)}", child not in (None, "", [])))
            elif isinstance(child, (dict, list)) and child:
                inner.append((child, at, path if key is None else f"{path} {key}".strip()))
            at += size
        named = identity(node) if isinstance(node, dict) else None
        own = [(field.first, field.last) for field in fields if named and field.text.startswith(f"{named[0]} ")][:1]
        stack.extend((child, start, where, (*names, *own)) for child, start, where in reversed(inner))
        if fields:
            yield line, at, path, tuple(fields), names, node


def _plain(child: Any) -> bool:
    return not isinstance(child, (dict, list)) or (
        isinstance(child, list) and all(not isinstance(each, (dict, list)) for each in child)
    )


def _said(child: Any) -> str:
    if isinstance(child, list):
        return " ".join(map(_said, child))
    return child.spelling if isinstance(child, Spelled) else str(child)


def _height(node: Any) -> int:
    """How many lines a value takes in the line form."""
    total, stack = 0, [node]
    while stack:
        each = stack.pop()
        if isinstance(each, (dict, list)) and each:
            total += 2
            stack.extend(each.values() if isinstance(each, dict) else each)
        else:
            total += 1
    return total
