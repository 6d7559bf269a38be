"""Recalls exact text by its ref, and finds records by words; what tools and pages said is fenced for a model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold.errors import RefError
from ctxfold.log import Address, BlockRef, RangeRef, RecordRef, StepRef, StretchRef
from ctxfold.log.json import line_form
from ctxfold.log.lines import fence, unposed
from ctxfold.log.page import page_of
from ctxfold.select.choose import find_best_line
from ctxfold.select.pieces import values_in
from ctxfold.session.commits import state_of
from ctxfold.session.load import read_tile
from ctxfold.store.rows import Reading
from ctxfold.store.search import SEARCHED
from ctxfold.store.tables import StoredRecord
from ctxfold.text.words import counted, query_words, words
from ctxfold.workspace import spans

_HEADING = re.compile(r"^(?=#{1,2} [sb]\d)", re.MULTILINE)
"""A line that begins as the headings do under which records are recalled."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The text of a ref.

    Attributes:
        ref: the address.
        text: of a record, its exact text; of lines, those lines; of a step, stretch or block, its records under one
            heading each, those of tools and pages between fences.
        derived: whether the text is not a record's own: headings, lines of indented JSON, a page as a person reads it.
        kind: of a record or its lines: user, assistant, call, result or note; else empty.
        origin: of a record or its lines: user, model, tool or page; else empty.
    """

    ref: str
    text: str
    derived: bool = False
    kind: str = ""
    origin: str = ""

    def fence(self, part: str | None = None) -> str:
        """Return the text, or a part of it, for a model: text of a tool or page between fences."""
        text = self.text if part is None else part
        return fence(self.ref, text) if self.origin in ("tool", "page") else text


def recall(tx: Reading, session: int, ref: Address, branch: str, reading: bool = False) -> Recalled:
    """Return the text of a ref. Raises RefError: nothing is recorded there.

    `branch` is the reader's; `reading` gives pages as a person reads them.
    """
    match ref:
        case RecordRef():
            record = _record(tx, session, ref.step, ref.record)
            text = tx.log.text(record.entry)
            page = page_of(text, record.origin) if reading else None
            return Recalled(str(ref), text if page is None else page, page is not None, record.kind, record.origin)
        case StepRef():
            return Recalled(str(ref), _join_records(tx, session, (ref.step,), reading), derived=True)
        case StretchRef():
            newest = tx.log.last_step(session)
            numbers = [step.n for step in tx.log.steps(session, range(ref.first, min(ref.last, newest) + 1))]
            if not numbers or ref.last > newest:
                raise RefError(_say_unknown(tx, session, str(ref)))
            return Recalled(str(ref), _join_branches(tx, session, numbers, branch, reading), derived=True)
        case BlockRef():
            blocks = tx.cover.tile_numbers(session)
            if ref.block not in blocks:
                newest_block = f"the newest of this session is b{blocks[-1]}" if blocks else "nothing is folded yet"
                raise RefError(f"no block {ref}; {newest_block}")
            steps = read_tile(tx, session, ref.block).steps
            text = f"# {ref}: {spans(steps)}\n{_join_records(tx, session, steps, reading)}"
            return Recalled(str(ref), text, derived=True)
        case RangeRef():
            return _recall_lines(tx, session, ref)


def _recall_lines(tx: Reading, session: int, ref: RangeRef) -> Recalled:
    record = _record(tx, session, ref.step, ref.record) if ref.record else _only_result(tx, session, ref.step)
    lines = line_form(tx.log.text(record.entry))
    at = f"s{record.step}.{record.k}"
    if ref.first > len(lines):
        raise RefError(f"{at} has {counted(len(lines), 'line')}; name lines within 1-{len(lines)}")
    last = min(ref.last, len(lines))
    text = "\n".join(lines[ref.first - 1 : last])
    return Recalled(f"{at}:{ref.first}-{last}", text, True, record.kind, record.origin)


def _join_branches(tx: Reading, session: int, numbers: Sequence[int], branch: str, reading: bool) -> str:
    """The records of steps in the order of the log, each run under the name of its branch: the reader's own if it is on
    that.
    """
    heads = sorted(tx.forest.heads(session), key=lambda head: (head.name != branch, head.id))
    paths = [(head.name, dict(tx.log.path(session, state_of(tx, session, head).tip))) for head in heads]
    runs: list[tuple[str, list[int]]] = []
    for step in tx.log.steps(session, numbers):
        name = next((name for name, path in paths if step.depth <= path.get(step.lane, 0)), "none")
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(step.n)
    return "\n".join(f"# {spans(run)}, branch {name}\n{_join_records(tx, session, run, reading)}" for name, run in runs)


def _join_records(tx: Reading, session: int, numbers: Sequence[int], reading: bool) -> str:
    """The records of steps under one heading each. No text of a tool, a page or a model can pass for a heading."""
    records = tx.log.records(session, numbers)
    if not records:
        raise RefError(_say_unknown(tx, session, f"s{numbers[0]}"))
    made: list[str] = []
    for record in records:
        text, ref = tx.log.text(record.entry), f"s{record.step}.{record.k}"
        page = page_of(text, record.origin) if reading else None
        text = text if page is None else page
        if record.origin in ("tool", "page"):
            text = f"<<{ref}\n{text.replace(f'{ref}>>', f'{ref}> >')}\n{ref}>>"
        elif record.origin == "model":
            text = _HEADING.sub(r"\\", unposed(text))
        call = f" {record.call_id}" if record.call_id else ""
        made.append(f"## {ref} {record.kind}{call}{'' if page is None else ', as it reads'}\n{text}")
    return "\n".join(made)


def _record(tx: Reading, session: int, step: int, k: int) -> StoredRecord:
    records = tx.log.records(session, [step])
    found = next((record for record in records if record.k == k), None)
    if found is None:
        if not records:
            raise RefError(_say_unknown(tx, session, f"s{step}.{k}"))
        there = f"s{step}.1" if len(records) == 1 else f"one of s{step}.1 to s{step}.{len(records)}"
        raise RefError(f"s{step} has {counted(len(records), 'record')}; name {there}")
    return found


def _only_result(tx: Reading, session: int, step: int) -> StoredRecord:
    results = [record for record in tx.log.records(session, [step]) if record.kind == "result"]
    if len(results) != 1:
        names = ", ".join(f"s{step}.{record.k}" for record in results) or "none"
        raise RefError(f"s{step} has {len(results)} results ({names}); name the record too, as in s{step}.2:1-20")
    return results[0]


def _say_unknown(tx: Reading, session: int, ref: str) -> str:
    last = tx.log.last_step(session)
    steps = f"the steps of this session are s1-s{last}" if last else "this session has no step yet"
    return f"nothing is recorded at {ref}; {steps}"


_SNIPPET = 400
"""Characters of a line that a hit shows."""
_WORD = re.compile(r"[^\W_]+")
_EXACT = 200
"""Records in which a name is looked for letter by letter: the newest that hold its words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that holds the words of a query.

    Attributes:
        ref: its address, with lines if the record has more than three.
        text: its best line with the line before and after; a long line is cut around the words, `…` marks the cut. Of
            a page, lines as a person reads them.
        step: its step.
        score: grows with fit.
        page: of a page, its title and address, if the recorder gave them.
    """

    ref: str
    text: str
    step: int
    score: float
    page: str = ""

    @property
    def fenced(self) -> str:
        """The ref and the text for a model, the text between fences."""
        return f"{self.ref} {fence(self.ref, self.text)}"


def search(tx: Reading, session: int, query: str, limit: int) -> list[Hit]:
    """Return the records that hold words of a query, best first, each with its best lines; of equal records the newest.

    A record that holds a path, an id or the whole query letter by letter comes first. A call that a page answered is
    left out: the page's answer is found.
    """
    asked = _Query.of(query)
    scores = dict(rank_records(tx, session, query, 2 * limit))
    for name, pattern in asked.names.items():
        for row in tx.search.holding(session, name, _EXACT):
            record = tx.log.record_by_id(row)
            if record is not None and pattern.search(tx.log.text(record.entry)):
                scores[row] = scores.get(row, 0.0) + len(_WORD.findall(query))
    hits: list[Hit] = []
    known: set[int] = set()
    for row, score in sorted(scores.items(), key=lambda each: (-each[1], -each[0])):
        record = tx.log.record_by_id(row)
        if record is None or record.entry in known or len(hits) >= limit or _asks_page(tx, session, record):
            continue
        known.add(record.entry)
        hits.append(_show_hit(tx, record, asked, score))
    return hits


def _asks_page(tx: Reading, session: int, record: StoredRecord) -> bool:
    """Whether a record is a call that a page answered."""
    return record.kind == "call" and any(
        other.kind == "result" and other.origin == "page" and other.call_id == record.call_id
        for other in tx.log.records(session, [record.step])
    )


@dataclass(frozen=True, slots=True)
class _Query:
    """The words of a query, and its names: the whole query, and each run that joins words, as paths and ids do."""

    words: frozenset[str]
    names: dict[str, re.Pattern[str]]

    @classmethod
    def of(cls, query: str) -> _Query:
        """Read a query."""
        runs = (run.strip(",;:.!?()[]{}<>\"'`") for run in query.split())
        names = dict.fromkeys([" ".join(query.split()), *(run for run in runs if len(_WORD.findall(run)) > 1)])
        patterns = {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?!\w|[.-]\w)", re.I) for name in names}
        return cls(frozenset(query_words(query)) | frozenset(words(query)), patterns)

    def find(self, lines: Sequence[str]) -> tuple[int, int]:
        """Return the line with a name, else with most words, and the place in it."""
        for pattern in self.names.values():
            named = {at: found.start() for at, line in enumerate(lines) if (found := pattern.search(line))}
            if named:
                best = list(named)[find_best_line([lines[at] for at in named], self.words)[0]]
                return best, named[best]
        return find_best_line(lines, self.words)


def rank_records(tx: Reading, session: int, query: str, limit: int) -> list[tuple[int, float]]:
    """Return the row ids of records that hold words of a query, best first, each with a score that grows with fit."""
    scores = dict(tx.search.ranked(session, query, limit))
    asked = dict.fromkeys(_WORD.findall(query.lower()))
    for record in tx.log.longer(session, SEARCHED):  # the index holds the start of these alone
        low = tx.log.text(record.entry).lower()
        late = sum(_has_word(low, word, SEARCHED, len(low)) and not _has_word(low, word, 0, SEARCHED) for word in asked)
        if late:
            scores[record.id] = scores.get(record.id, 0.0) + late / (1 + math.log1p(1))
    return sorted(scores.items(), key=lambda each: (-each[1], -each[0]))[:limit]


def _has_word(low: str, word: str, start: int, end: int) -> bool:
    """Whether a stretch of a text in lower case holds a whole word."""
    while (at := low.find(word, start, end)) >= 0:
        if not (low[at - 1 : at].isalnum() or low[at + len(word) : at + len(word) + 1].isalnum()):
            return True
        start = at + 1
    return False


def _show_hit(tx: Reading, record: StoredRecord, asked: _Query, score: float) -> Hit:
    text = tx.log.text(record.entry)
    page = page_of(text, record.origin)
    lines = line_form(text) if page is None else page.splitlines() or [""]
    best, place = asked.find(lines)
    low, high = max(0, best - 1), min(len(lines), best + 2)
    shown = "\n".join(_cut(lines[at], place if at == best else 0) for at in range(low, high))
    ref = f"s{record.step}.{record.k}" + (f":{low + 1}-{high}" if len(lines) > 3 and page is None else "")
    named = record.origin == "page" and record.shown is not None
    title = _cut(tx.log.text(record.shown).partition("\n")[0], 0) if named and record.shown is not None else ""
    return Hit(ref, shown, record.step, round(score, 4), title)


def _cut(line: str, place: int) -> str:
    """A line, cut around a place where it is long."""
    start = max(0, min(place - _SNIPPET // 4, len(line) - _SNIPPET))
    end = start + _SNIPPET
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


_EXACT_VALUE = re.compile(r"[\d@_/\\]")
"""A sign of a value that nobody can guess from its words: a digit, or what joins parts of a path, an address or a name.
"""
_PATH = re.compile(r"(?!\w+://)[^\s\"'`*?<>|]*(?:[/\\][^\s\"'`*?<>|]*\w|\w\.[A-Za-z]\w*)")
"""An argument that is a path and nothing else."""
_HALVING = 10
"""The number of calls after which a call counts half as much as the newest."""


def list_named(tx: Reading, session: int, shown: str, room: int) -> tuple[str, ...]:
    """Return the values that calls named and a text does not show, in alphabetical order.

    Values named often and lately are taken first, as many as `room` characters hold.
    """
    calls = [each for each in tx.log.entries_of(session) if each.kind == "call"]
    worth, spelled = dict[str, float](), dict[str, str]()
    for age, record in zip(range(len(calls), 0, -1), calls, strict=True):
        named = {value.lower(): value for text in _arguments(tx.log.text(record.entry)) for value in _values(text)}
        for value, written in named.items():
            worth[value] = worth.get(value, 0.0) + 1 / (_HALVING + age)
            spelled[value] = written
    low, taken = shown.lower(), list[str]()
    for value in sorted(worth, key=lambda each: -worth[each]):
        if len(value) < room and value not in low and not any(value in other for other in taken):
            taken.append(value)
            room -= len(value) + 1
    return tuple(spelled[value] for value in sorted(taken))


def _arguments(call: str) -> Iterator[str]:
    """The texts and numbers among the arguments of a recorded call."""
    try:
        stack: list[Any] = [json.loads(call)["args"]]
    except (ValueError, KeyError, TypeError):  # a redaction may leave a call that is no JSON
        return
    while stack:
        each = stack.pop()
        if isinstance(each, (dict, list)):
            stack += each.values() if isinstance(each, dict) else each
        elif isinstance(each, (str, int, float)) and not isinstance(each, bool):
            yield str(each)


def _values(text: str) -> Iterator[str]:
    """The ids, paths, numbers and joined names in a text, as it writes them."""
    if _PATH.fullmatch(text):
        yield text
    for line in text.splitlines():
        low = line.lower()
        for value in values_in(line):
            at = low.find(value)
            if at >= 0 and len(value) > 2 and _EXACT_VALUE.search(value):
                yield line[at : at + len(value)]
