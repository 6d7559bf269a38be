"""The embedded extractor, which finds the lines of the log whose words are nearest to a query.

Structured records are chosen by object and field, and an object never goes without what names it and those around it; texts by sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold.decisions.intent.checks import OVERHEAD
from ctxfold.decisions.intent.values import Source
from ctxfold.log.json_tree import Spelled, parse
from ctxfold.text import BM25, best_line, query_words, select, words
from ctxfold.tokens import count
from ctxfold.workspace.intent import Extract

__all__ = ["choose_lines"]

_WHOLE = 90
"""o200k tokens up to which an object is taken whole."""
_SHORT = 24
"""o200k tokens up to which a field without a word of the query goes with those that hold one."""
_FIELDS = 6
"""Fields that stand for a larger object of which no field holds a word of the query: its first."""
_FAINT = 0.3
"""Of the best score, what a unit must pass."""
_UNITS = 6_000
_READ = 400_000
"""Characters of a record above which only its best line is looked for."""
_SHARE = 48
_LINE = 4_000
"""Characters of a line of a long record that may be taken."""

_Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is taken or left as one: ranges of lines, or one slice of them, the words it is judged by, and what it is a version of."""

    source: Source
    ranges: tuple[_Lines, ...]
    said: str
    name: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class _Object:
    """An object of a structured record: its lines and path, its plain fields with their lines, what names it, and the lines that name it and those around it."""

    lines: _Lines
    path: str
    fields: tuple[tuple[_Lines, str], ...]
    name: str
    naming: tuple[_Lines, ...]


def choose_lines(query: str, sources: Sequence[Source], budget: int, shown: str = "") -> list[Extract]:
    """The parts of records that fit a query best, within a budget, in the order of the log. Nothing is chosen all of whose words stand in `shown`."""
    wanted, standing = query_words(query), frozenset(words(shown))
    units: list[_Unit] = []
    named: set[str] = set()
    share = max(_SHARE, budget // max(sum(parse(source.text) is None for source in sources), 1)) - 2 * OVERHEAD
    for source in sources:
        for unit in _units(source, query, wanted, share) if len(units) <= _UNITS else ():
            if unit.name not in named and not (shown and standing.issuperset(words(unit.said))):
                units.append(unit)
                named |= {unit.name} - {""}
    scores = BM25([words(unit.said) for unit in units]).scores(wanted)
    least = max(scores, default=0.0) * _FAINT
    best = sorted((at for at, score in enumerate(scores) if score > least), key=lambda at: (-scores[at], at))
    return _within([units[at] for at in best if units[at].ranges], budget)


def _within(units: Sequence[_Unit], budget: int) -> list[Extract]:
    """The first of some units that fit a budget, as extracts in the order of the log, lines that touch as one."""
    taken: dict[tuple[int, int], tuple[Source, set[_Lines]]] = {}
    parts: list[tuple[tuple[int, int, int], Extract]] = []
    for unit in units:
        source = unit.source
        known = taken.setdefault((source.step, source.k), (source, set()))[1]
        fresh = [lines for lines in unit.ranges if lines not in known]
        price = sum(count(unit.part or source.slice(*lines)) + OVERHEAD for lines in fresh)
        if price > budget:
            continue
        budget -= price
        if unit.part:
            first, last = unit.ranges[0]
            made = Extract(f"{source.ref}:{first}-{last}", unit.part, untrusted=source.untrusted, part=True)
            parts.append(((source.step, source.k, first), made))
        else:
            known.update(fresh)
    for (step, k), (source, ranges) in taken.items():
        for first, last in _joined(ranges):
            made = Extract(f"{source.ref}:{first}-{last}", source.slice(first, last), untrusted=source.untrusted)
            parts.append(((step, k, first), made))
    return [made for _, made in sorted(parts, key=lambda each: each[0])]


def _joined(ranges: set[_Lines]) -> list[_Lines]:
    made: list[_Lines] = []
    for first, last in sorted(ranges):
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    return made


def _units(source: Source, query: str, wanted: Sequence[str], share: int) -> Iterator[_Unit]:
    asked = frozenset(wanted)
    if len(source.text) > _READ:
        at, _ = best_line(source.lines, asked)
        if len(source.lines[at]) <= _LINE and not asked.isdisjoint(words(source.lines[at])):
            yield _Unit(source, ((at + 1, at + 1),), source.lines[at])
        return
    tree = parse(source.text)
    if tree is not None:
        yield from (_of_object(source, each, asked) for each in _objects(tree))
    elif not asked.isdisjoint(words(source.text)):
        for span in select(source.text, query, share):
            text = span.of(source.text)
            lines = source.text.count("\n", 0, span.start) + 1, source.text.count("\n", 0, span.end) + 1
            whole = len(source.slice(*lines)) <= 2 * len(text) + 40
            yield _Unit(source, (lines,), text, part="" if whole else text)


def _of_object(source: Source, each: _Object, asked: frozenset[str]) -> _Unit:
    """An object whole where it is small, else the fields that hold a word of the query; one that holds none is counted for how rare words are, and never taken."""
    said = " ".join([each.path, *(text for _, text in each.fields)])
    if asked.isdisjoint(words(said)):
        return _Unit(source, (), said, each.name)
    whole = source.slice(*each.lines)
    if len(whole) <= _WHOLE * 8 and count(whole) <= _WHOLE:
        kept = [each.lines]
    else:
        telling = {lines: text for lines, text in each.fields if not asked.isdisjoint(words(text))}
        left = _WHOLE - sum(map(count, telling.values()))
        for lines, text in each.fields:
            if lines not in telling and len(text) <= _SHORT * 8 and (price := count(text)) <= min(left, _SHORT):
                telling[lines] = text
                left -= price
        kept = [*telling] or [lines for lines, _ in each.fields[:_FIELDS]]
    return _Unit(source, tuple(_joined({*kept, *each.naming})), said, each.name)


def _objects(tree: Any) -> Iterator[_Object]:
    """Every object with values of its own, outermost first."""
    stack: list[tuple[Any, int, str, tuple[_Lines, ...]]] = [(tree, 1, "", ())]
    while stack:
        node, line, path, around = stack.pop()
        at = line + 1
        fields: list[tuple[_Lines, str]] = []
        inner: list[tuple[Any, int, str]] = []
        for key, child in node.items() if isinstance(node, dict) else ((None, child) for child in node):
            size = _height(child)
            if key is not None and _plain(child):
                fields.append(((at, at + size - 1), f"{key} {_said(child)}"))
            elif isinstance(child, (dict, list)) and child:
                inner.append((child, at, path if key is None else f"{path} {key}".strip()))
            at += size
        named = _first_name(node) if isinstance(node, dict) else None
        own = [lines for lines, text in fields if named and text.startswith(f"{named[0]} ")][:1]
        naming = (*around, *own)
        stack.extend((child, start, where, naming) for child, start, where in reversed(inner))
        if fields:
            yield _Object((line, at), path, tuple(fields), f"{path}|{named[0]}={named[1]}" if named else "", naming)


def _first_name(node: dict[str, Any]) -> tuple[str, str] | None:
    """The first field of an object that holds a text or a whole number, by which the object is told from others."""
    named = ((key, str(value)) for key, value in node.items() if isinstance(value, (str, int)) and value is not True)
    return next(named, None)


def _plain(child: Any) -> bool:
    nested = child if isinstance(child, list) else [child]
    return not any(isinstance(each, (dict, list)) for each in nested)


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
