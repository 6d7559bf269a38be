"""Extraction: resolves the lines that somebody chose, and chooses lines without a model."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby
from typing import NamedTuple

from pydantic import BaseModel, Field, StrictStr, field_validator

from ctxfold.decisions.register import EntrySource, Records, read_entries
from ctxfold.errors import InputError
from ctxfold.log.json import parse
from ctxfold.select.choose import Choice
from ctxfold.select.pieces import Piece, pieces_of_text
from ctxfold.select.score import PAGE, find_promising, score
from ctxfold.text.words import counted, query_words, words
from ctxfold.tokens import count, head
from ctxfold.workspace import Extract


class LinesWritten(BaseModel, frozen=True, extra="forbid"):
    """One choice of lines."""

    ref: StrictStr = Field(description="A record and its lines, as s12.2:40-80.")
    why: StrictStr = Field(
        default="", description="What they are for, in your own words.", json_schema_extra={"maxLength": 200}
    )
    todo: StrictStr | None = Field(default=None, description="The item they serve, as t3.")
    facts: tuple[StrictStr, ...] = Field(
        default=(), description="Strings in them that matter, unchanged.", json_schema_extra={"maxItems": 12}
    )
    constraints: tuple[StrictStr, ...] = Field(
        default=(), description="What they state or strictly imply must hold.", json_schema_extra={"maxItems": 6}
    )

    @field_validator("why")
    @classmethod
    def _flatten(cls, why: str) -> str:
        return " ".join(why.split())[:_REASON]


OVERHEAD = 12
"""o200k tokens of an extract's address and fence at most."""
_REF = re.compile(r"\s*s(\d{1,12})(?:\.(\d{1,6}))?(?::(\d{1,12})(?:-(\d{1,12}))?)?\s*")
_MOST = 200
"""Selections of one call that are read."""
_REASON = 400
"""Characters of a reason, and of a constraint, that are kept."""
_CONSTRAINTS = 6
"""Constraints of one selection that are kept."""


@dataclass
class Resolved:
    """The account of selections, filled while they are resolved."""

    extracts: list[Extract] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    omitted: list[str] = field(default_factory=list)
    tokens: int = 0

    def leave_out(self, what: str, ref: str, reason: str) -> None:
        """Count a selection that is left out, with the reason."""
        self.counts[what] += 1
        self.omitted.append(f"{ref[:60]}: {reason}")


@dataclass(frozen=True, slots=True)
class _Range:
    source: EntrySource
    first: int
    last: int
    wish: LinesWritten


def resolve_selections(given: Sequence[object], records: Records, items: frozenset[str], budget: int) -> Resolved:
    """Resolve selections to lines of the log, the most wanted first, within a budget of o200k tokens.

    Raises InputError: an entry that cannot be read.
    """
    done = Resolved()
    ranges: list[_Range] = []
    for each in read_entries(LinesWritten, given[:_MOST], "selection"):
        is_known = each.todo is None or each.todo in items
        done.counts["unknown items"] += not is_known
        try:
            located = _locate(each if is_known else each.model_copy(update={"todo": None}), records, done)
            ranges = _merge(ranges, located, done)
        except InputError as fault:
            done.leave_out("refused", each.ref, str(fault))
    for chosen in ranges:
        _take(chosen, budget, done)
    done.counts = +done.counts
    return done


def _locate(wish: LinesWritten, records: Records, done: Resolved) -> _Range:
    """The lines that a selection means, mended where that is safe. Raises InputError: it means none."""
    parts = _REF.fullmatch(wish.ref)
    if parts is None:
        raise InputError("not an address of lines; use s12.2:40-80")
    there = records.of(int(parts[1]))
    fitting = [each for each in there if (each.kind == "result" if parts[2] is None else each.k == int(parts[2]))]
    if parts[2] is None and parts[3] is None:  # a step alone means its longest result, not a "clicked"
        fitting = sorted(fitting, key=lambda each: len(each.text))[-1:] or there[-1:]
    if len(fitting) != 1:
        names = ", ".join(each.ref for each in fitting or there)
        raise InputError(f"name one record of {names[:120]}" if there else "nothing is recorded there")
    source, size = fitting[0], len(fitting[0].lines)
    first = int(parts[3] or 1)
    last = int(parts[4] or parts[3] or size)
    low, high = min(first, last), max(first, last)
    if low > size or high < 1:
        raise InputError(f"{source.ref} has {counted(size, 'line')}")
    done.counts["mended"] += (first, last) != (max(low, 1), min(high, size))
    return _Range(source, max(low, 1), min(high, size), wish)


def _merge(ranges: Sequence[_Range], new: _Range, done: Resolved) -> list[_Range]:
    """Add a range; those it overlaps become one with it, at the place of the first."""
    touching = [
        old for old in ranges if old.source.ref == new.source.ref and old.first <= new.last and new.first <= old.last
    ]
    if not touching:
        return [*ranges, new]
    done.counts["merged"] += len(touching)
    wishes = [each.wish for each in (*touching, new)]
    why = "; ".join(dict.fromkeys(wish.why for wish in wishes if wish.why))
    todo = next((wish.todo for wish in wishes if wish.todo), None)
    facts = tuple(dict.fromkeys(fact for wish in wishes for fact in wish.facts))
    held = tuple(dict.fromkeys(text for wish in wishes for text in wish.constraints))
    first, last = min(each.first for each in (*touching, new)), max(each.last for each in (*touching, new))
    wish = LinesWritten(ref=wishes[0].ref, why=why, todo=todo, facts=facts, constraints=held)
    merged = _Range(new.source, first, last, wish)
    return [merged if old is touching[0] else old for old in ranges if old is touching[0] or old not in touching]


def _take(each: _Range, budget: int, done: Resolved) -> None:
    """Add a range to the extracts, as far as the budget allows."""
    source, wish = each.source, each.wish
    price = OVERHEAD + sum(count(text) + 1 for text in (wish.why, *wish.constraints) if text)
    whole = source.slice(each.first, each.last)
    text = head(whole, budget - done.tokens - price)
    last = each.last if text == whole else each.first - 1 + text.count("\n") + whole.startswith("\n", len(text))
    if last < each.first:
        done.leave_out("left out", f"{source.ref}:{each.first}-{each.last}", "over the budget")
        return
    if last < each.last:
        done.leave_out("cut", f"{source.ref}:{last + 1}-{each.last}", "over the budget")
    text = source.slice(each.first, last)
    facts = tuple(fact for fact in wish.facts if fact and fact in text)
    done.counts["facts deleted"] += len(wish.facts) - len(facts)
    ref = f"{source.ref}:{each.first}-{last}"
    held = tuple(" ".join(each.split())[:_REASON] for each in wish.constraints[:_CONSTRAINTS])
    done.extracts.append(Extract(ref, text, wish.why, wish.todo, facts, source.untrusted, constraints=held))
    done.tokens += count(text) + price


_LINES = replace(PAGE, carry=0)
"""The weights for lines, which count by their own words: the rows beside a row of JSON are of other subjects."""
_FAINT = 0.2
"""Lines of less than this share of the best worth are not extracted, even if there is room."""
_READ = 400_000
"""Characters of a record of JSON above which its lines are chosen as those of any text."""
_PROMISING = 4_000
"""o200k tokens of the lines of one record that are read; a look at each finds them."""
_UNITS = 20_000
"""Units that one extraction chooses from: records after that many are not read."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Lines that are taken or left as one, or a part of one line.

    Attributes:
        part: the part of a line that is too long; empty for whole lines.
        name: the line that names an object of JSON; empty for anything else.
        under: places of the units without which it cannot be read.
    """

    source: EntrySource
    first: int
    last: int
    part: str = ""
    name: str = ""
    under: tuple[int, ...] = ()

    @property
    def ref(self) -> str:
        """The address of its lines."""
        return f"{self.source.ref}:{self.first}-{self.last}"

    @property
    def text(self) -> str:
        """What is extracted."""
        return self.part or self.source.slice(self.first, self.last)


def choose_lines(query: str, sources: Sequence[EntrySource], budget: int) -> list[Extract]:
    """Choose the lines of records that fit a query best, within a budget of o200k tokens, in the order of the log.

    `sources`: the newest first; of an object that several records hold, the newest counts.
    """
    asked = frozenset(query_words(query))
    units: list[_Unit] = []
    for source in sources:
        if len(units) < _UNITS:
            units += _cut(source, query, len(units))
    texts = [unit.text for unit in units]
    pieces = [
        Piece(text, len(text) // 3 + OVERHEAD, words=tuple(asked.intersection(words(text))), under=unit.under)
        for unit, text in zip(units, texts, strict=True)
    ]
    worths = score(pieces, query, _LINES)
    least = max(worths, default=0.0) * _FAINT
    newest: dict[str, str] = {}
    among = [
        place
        for place, unit in enumerate(units)
        if worths[place] > least and newest.setdefault(unit.name or unit.source.ref, unit.source.ref) == unit.source.ref
    ]
    choice = Choice(pieces, query, among=among, weights=_LINES)

    def price(places: Sequence[int]) -> int:
        return sum(count(each.text) + OVERHEAD for each in _join(units, places))

    return _join(units, choice.fit(budget, price))


def _join(units: Sequence[_Unit], places: Sequence[int]) -> list[Extract]:
    """Some of the units as extracts in the order of the log, lines that touch as one."""
    joined: list[_Unit] = []
    for unit in sorted(
        (units[place] for place in places), key=lambda unit: (unit.source.step, unit.source.k, unit.first, unit.last)
    ):
        before = joined[-1] if joined else None
        touches = before is not None and before.source.ref == unit.source.ref and unit.first <= before.last + 1
        if before is not None and touches and not (unit.part or before.part):
            joined[-1] = replace(before, last=max(unit.last, before.last))
        else:
            joined.append(unit)
    return [Extract(unit.ref, unit.text, untrusted=unit.source.untrusted, part=bool(unit.part)) for unit in joined]


def _cut(source: EntrySource, query: str, base: int) -> Iterator[_Unit]:
    """The units of a record that hold words of a query; `base`: the place of the first."""
    if frozenset(query_words(query)).isdisjoint(words(source.text)):
        return
    if len(source.text) <= _READ and parse(source.text) is not None:
        yield from _cut_json(source, base)
        return
    starts = [0, *accumulate(len(line) + 1 for line in source.lines)]
    pieces = pieces_of_text("\n".join(source.lines))
    for place in find_promising(pieces, query, _PROMISING, PAGE):
        piece, at = pieces[place], bisect_right(starts, pieces[place].span.start)
        is_whole = len(source.lines[at - 1]) <= 2 * len(piece.text) + 40
        yield _Unit(source, at, at, "" if is_whole else piece.text)


def _cut_json(source: EntrySource, base: int) -> Iterator[_Unit]:
    """The rows of a record of JSON, each under the beginnings of the objects around it."""
    ends = _find_ends(source.lines)
    around: list[tuple[int, int]] = []  # where an object ends, and the place of its first row
    for place, (first, last) in enumerate(_split_lines(source, ends), base):
        around = [(end, at) for end, at in around if end >= first]
        is_object = last > first and source.lines[first - 1].endswith("{")
        name = source.lines[first].strip(" ,") if is_object else ""
        yield _Unit(source, first, last, name=name, under=tuple(at for _, at in around))
        if is_object and ends[first] > last:
            around.append((ends[first], place))


def _find_ends(lines: Sequence[str]) -> dict[int, int]:
    """For each line that opens an object or a list the line that closes it, both from 1."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for at, line in enumerate(lines, 1):
        if line.strip(" ,") in ("}", "]"):
            ends[opened.pop()] = at
        elif line.endswith(("{", "[")):
            opened.append(at)
    return ends


PART, PARTS = 24_000, 8
"""o200k tokens of lines that one request shows a model, and the most such parts of the lines since an extraction."""
OLDER, OLDER_SHARE = 2_000, 5
"""o200k tokens of older lines that it is shown at most; a fifth of the new ones, where that is more. With half of them
a run of eight long turns reads 1.75 of its log, prompts included, with a fifth 1.45.
"""
_ROW = 160
"""Characters up to which an object or a list of JSON is one row: its lines would cost twice as much."""
_LONG_ROW = 8_000
"""Characters of a line that a model is shown. A ref names no part of a line, and an extraction has no room for more."""


class NumberedRow(NamedTuple):
    """Lines of a record as a model is shown them, `40-42| …`; `is_cut`: they are the beginning of a long line."""

    source: EntrySource
    text: str
    tokens: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Material:
    """Lines for a model that chooses some: all since the last extraction, and older ones near the need.

    Attributes:
        parts: the lines, a part for each request.
        unread: the steps with new lines that are in no part, or of which only the beginning is.
        read: how many records of the session are read with it.
        steps: all steps of the session.
    """

    parts: tuple[tuple[NumberedRow, ...], ...] = ()
    unread: tuple[int, ...] = ()
    read: int = 0
    steps: tuple[int, ...] = ()


def number_rows(source: EntrySource) -> Iterator[NumberedRow]:
    """Return all lines of a record as rows: a few short lines in one row, a small object of JSON in one of its own."""
    lines = source.lines
    ends = _find_ends(lines) if parse(source.text) is not None else {}
    for first, last in _split_lines(source, ends):
        inner = [line.strip() for line in lines[first:last]] if ends else lines[first:last]
        yield _number(source, first, last, (" " if ends else "\n").join([lines[first - 1], *inner]))


def _split_lines(source: EntrySource, ends: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The first and last lines of each row of a record, from 1; `ends`: where objects and lists of JSON end."""
    lines, first = source.lines, 0
    sums = [0, *accumulate(len(line.strip()) + 1 for line in lines)]
    while first < len(lines):
        whole = ends.get(first + 1, 0)
        after = (at for at in range(first + 1, len(lines)) if at + 1 in ends or sums[at + 1] - sums[first] > _ROW)
        last = whole if whole and sums[whole] - sums[first] <= _ROW else next(after, len(lines))
        yield first + 1, last
        first = last


def _number(source: EntrySource, first: int, last: int, text: str) -> NumberedRow:
    cut = f" …[+{len(text) - _LONG_ROW:,}]" if len(text) > _LONG_ROW else ""
    shown = f"{first if first == last else f'{first}-{last}'}| {text[:_LONG_ROW]}{cut}"
    return NumberedRow(source, shown, count(shown) + 1, bool(cut))


def choose_rows(query: str, sources: Sequence[EntrySource], room: int) -> list[NumberedRow]:
    """Return the rows of records that fit a query best, as `choose_lines` finds them within a room in o200k tokens."""
    records, rows = {source.ref: source for source in sources}, list[NumberedRow]()
    for extract in choose_lines(query, sources, room):
        ref, _, lines = extract.ref.partition(":")
        first, _, last = lines.partition("-")
        rows.append(_number(records[ref], int(first), int(last), extract.text))
    return rows


def show_rows(rows: Iterable[NumberedRow]) -> str:
    """Return rows for a model, those of a record under its ref."""
    texts = list[str]()
    for source, group in groupby(rows, key=lambda row: row.source):
        texts += [f"{source.ref}, {counted(len(source.lines), 'line')}, {source.kind}", *(row.text for row in group)]
    return "\n".join(texts)


def split_rows(rows: Sequence[NumberedRow]) -> list[tuple[NumberedRow, ...]]:
    """Return rows in parts of at most `PART` o200k tokens; a longer record goes on in the next part."""
    parts, left = list[list[NumberedRow]](), 0
    for row in rows:
        if row.tokens > left:
            parts.append([])
            left = PART
        parts[-1].append(row)
        left -= row.tokens
    return list(map(tuple, parts))
