"""Returns the exact text behind a ref."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.errors import RefError
from ctxfold.log import Address, BlockRef, RangeRef, RecordRef, StepRef, StretchRef
from ctxfold.log.json import line_form
from ctxfold.log.page import page_of
from ctxfold.select.choose import best_line
from ctxfold.session.commits import state_of
from ctxfold.session.load import read_tile
from ctxfold.store.rows import Reading, StoredRecord
from ctxfold.store.search import SEARCHED
from ctxfold.text.words import counted, query_words, words
from ctxfold.workspace import spans


@dataclass(frozen=True, slots=True)
class Recalled:
    """What an address stands for.

    Attributes:
        ref: the address.
        text: for a record, its exact text; for a step or stretch, all its records under one-line headers; for a range, those lines.
        derived: whether the text is a derived form rather than a record's own: headers added, lines of indented JSON, a page in its reading form.
        kind: for a record, what it is: user, assistant, call, result or note; empty else.
        origin: for a record, where it came from: user, model, tool or page; empty else.
    """

    ref: str
    text: str
    derived: bool = False
    kind: str = ""
    origin: str = ""


def recall(tx: Reading, session: int, ref: Address, branch: str, reading: bool = False) -> Recalled:
    """The exact text of an address; on demand pages in their reading form. Raises RefError: nothing was recorded there."""
    match ref:
        case RecordRef():
            record = _record(tx, session, ref.step, ref.record)
            text = tx.log.text(record.entry)
            page = page_of(text, record.origin) if reading else None
            return Recalled(str(ref), text if page is None else page, page is not None, record.kind, record.origin)
        case StepRef():
            return Recalled(str(ref), _steps(tx, session, (ref.step,), reading), derived=True)
        case StretchRef():
            numbers = [
                step.n for step in tx.log.steps(session, range(ref.first, min(ref.last, tx.log.last_step(session)) + 1))
            ]
            if not numbers or ref.last > tx.log.last_step(session):
                raise RefError(_unknown(tx, session, str(ref)))
            return Recalled(str(ref), _stretch(tx, session, numbers, branch, reading), derived=True)
        case BlockRef():
            blocks = tx.cover.tile_numbers(session)
            if ref.block not in blocks:
                there = (
                    f"the newest of this session is b{blocks[-1]}"
                    if blocks
                    else "nothing was folded in this session yet"
                )
                raise RefError(f"no block {ref}; {there}")
            tile = read_tile(tx, session, ref.block)
            return Recalled(
                str(ref), f"# {ref}: {spans(tile.steps)}\n{_steps(tx, session, tile.steps, reading)}", derived=True
            )
        case RangeRef():
            return _range(tx, session, ref)


def _stretch(tx: Reading, session: int, numbers: Sequence[int], branch: str, reading: bool) -> str:
    """Steps in the order of the log, each run of them under the branch it lies on: the reader's own where it is on that."""
    heads = sorted(tx.forest.heads(session), key=lambda head: (head.name != branch, head.id))
    paths = [(head.name, dict(tx.log.path(session, state_of(tx, session, head).tip))) for head in heads]
    runs: list[tuple[str, list[int]]] = []
    for step in tx.log.steps(session, numbers):
        name = next((name for name, path in paths if step.depth <= path.get(step.lane, 0)), "none")
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(step.n)
    return "\n".join(f"# {spans(run)}, branch {name}\n{_steps(tx, session, run, reading)}" for name, run in runs)


def _range(tx: Reading, session: int, ref: RangeRef) -> Recalled:
    record = (
        _record(tx, session, ref.step, ref.record) if ref.record is not None else _one_result(tx, session, ref.step)
    )
    lines = line_form(tx.log.text(record.entry))
    if ref.first > len(lines):
        raise RefError(f"s{record.step}.{record.k} has {counted(len(lines), 'line')}; name lines within 1-{len(lines)}")
    last = min(ref.last, len(lines))
    return Recalled(
        f"s{record.step}.{record.k}:{ref.first}-{last}", "\n".join(lines[ref.first - 1 : last]), derived=True
    )


def _record(tx: Reading, session: int, step: int, k: int) -> StoredRecord:
    records = tx.log.records(session, [step])
    found = next((record for record in records if record.k == k), None)
    if found is None:
        if not records:
            raise RefError(_unknown(tx, session, f"s{step}.{k}"))
        there = f"s{step}.1" if len(records) == 1 else f"one of s{step}.1 to s{step}.{len(records)}"
        raise RefError(f"s{step} has {counted(len(records), 'record')}; name {there}")
    return found


def _one_result(tx: Reading, session: int, step: int) -> StoredRecord:
    results = [record for record in tx.log.records(session, [step]) if record.kind == "result"]
    if len(results) != 1:
        names = ", ".join(f"s{step}.{record.k}" for record in results) or "none"
        raise RefError(
            f"s{step} has {len(results)} results ({names}); name the record of the lines, as in s{step}.2:1-20"
        )
    return results[0]


def _steps(tx: Reading, session: int, numbers: Sequence[int], reading: bool) -> str:
    records = tx.log.records(session, numbers)
    if not records:
        raise RefError(_unknown(tx, session, f"s{numbers[0]}"))
    made: list[str] = []
    for record in records:
        text = tx.log.text(record.entry)
        page = page_of(text, record.origin) if reading else None
        head = f"## s{record.step}.{record.k} {_who(record)}{'' if page is None else ', as it reads'}"
        made.append(f"{head}\n{text if page is None else page}")
    return "\n".join(made)


def _who(record: StoredRecord) -> str:
    who = {"user": "user", "assistant": "assistant", "note": "note"}.get(record.kind, record.kind)
    return f"{who} {record.call_id}" if record.call_id else who


def _unknown(tx: Reading, session: int, ref: str) -> str:
    last = tx.log.last_step(session)
    return f"nothing is recorded at {ref}; " + (
        f"the steps of this session are s1-s{last}" if last else "this session has no step yet"
    )


_SNIPPET = 400
"""Characters of a line that a hit shows."""
_WORD = re.compile(r"[^\W_]+")
_EXACT = 200
"""Records in which a name is looked for letter by letter, the newest that hold its words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that holds the words asked for: its address with lines, those lines, its step, and a score that grows with fit.

    A long line is shown round the words; `…` stands where it goes on. Of a page the lines are those of its reading form, and the address is all of it;
    `page` is how it was shown begins: its title and address, where its recorder names them.
    """

    ref: str
    text: str
    step: int
    score: float
    page: str = ""


def search(tx: Reading, session: int, query: str, limit: int) -> list[Hit]:
    """The records that hold the words of a query, best first, each with its best lines; what was recorded several times as one, the newest.

    What a query writes in one piece (a path, an id, or all of it) comes first where a record holds it letter by letter. What was asked of a page is no
    place: the page's answer is.
    """
    asked = _Asked.of(query)
    scores = dict(ranked(tx, session, query, 2 * limit))
    for name, alone in asked.names.items():
        for row in tx.search.holding(session, name, _EXACT):
            record = tx.log.record_by_id(row)
            if record is not None and alone.search(tx.log.text(record.entry)):
                scores[row] = scores.get(row, 0.0) + len(_WORD.findall(query))
    found: list[Hit] = []
    known: set[int] = set()
    for row, score in sorted(scores.items(), key=lambda each: (-each[1], -each[0])):
        record = tx.log.record_by_id(row)
        if record is None or record.entry in known or len(found) >= limit or _asks_page(tx, session, record):
            continue
        known.add(record.entry)
        found.append(_hit(tx, record, asked, score))
    return found


def _asks_page(tx: Reading, session: int, record: StoredRecord) -> bool:
    """Whether a record is a call that a page answered."""
    return record.kind == "call" and any(
        other.kind == "result" and other.origin == "page" and other.call_id == record.call_id
        for other in tx.log.records(session, [record.step])
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query: its words, and its names, each with what finds it where it is no part of a longer one. Names are all of it, and each run that joins several words."""

    words: frozenset[str]
    names: dict[str, re.Pattern[str]]

    @classmethod
    def of(cls, query: str) -> _Asked:
        """Read a query."""
        runs = (run.strip(",;:.!?()[]{}<>\"'`") for run in query.split())
        names = dict.fromkeys([" ".join(query.split()), *(run for run in runs if len(_WORD.findall(run)) > 1)])
        return cls(
            frozenset(query_words(query)) | frozenset(words(query)),
            {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?!\w|[.-]\w)", re.I) for name in names},
        )

    def place(self, lines: Sequence[str]) -> tuple[int, int]:
        """The line that shows best what was asked for, and where in it: of those with a name, else of all, the one with most words."""
        for alone in self.names.values():
            named = {at: found.start() for at, line in enumerate(lines) if (found := alone.search(line))}
            if named:
                best = list(named)[best_line([lines[at] for at in named], self.words)[0]]
                return best, named[best]
        return best_line(lines, self.words)


def ranked(tx: Reading, session: int, query: str, limit: int) -> list[tuple[int, float]]:
    """The row ids of the records that hold words of a query, best first, each with a score that grows with fit. Arguments as of `search`."""
    scores = dict(tx.search.ranked(session, query, limit))
    for long in tx.log.longer(session, SEARCHED):
        behind = _behind(tx.log.text(long.entry), query)
        if behind:
            scores[long.id] = scores.get(long.id, 0.0) + behind / (1 + math.log1p(1))
    return sorted(scores.items(), key=lambda each: (-each[1], -each[0]))[:limit]


def _behind(text: str, query: str) -> int:
    """How many words of a query stand in a text behind what the index holds, and not before it."""
    low = text.lower()
    asked = dict.fromkeys(_WORD.findall(query.lower()))
    return sum(_stands(low, word, SEARCHED, len(low)) and not _stands(low, word, 0, SEARCHED) for word in asked)


def _stands(low: str, word: str, start: int, end: int) -> bool:
    """Whether a word stands by itself within a stretch of a text in lower case."""
    while (at := low.find(word, start, end)) >= 0:
        if not (low[at - 1 : at].isalnum() or low[at + len(word) : at + len(word) + 1].isalnum()):
            return True
        start = at + 1
    return False


def _hit(tx: Reading, record: StoredRecord, asked: _Asked, score: float) -> Hit:
    text = tx.log.text(record.entry)
    page = page_of(text, record.origin)
    lines = line_form(text) if page is None else page.splitlines() or [""]
    best, place = asked.place(lines)
    low, high = max(0, best - 1), min(len(lines), best + 2)
    shown = "\n".join(_cut(lines[at], place if at == best else 0) for at in range(low, high))
    ref = f"s{record.step}.{record.k}" + (f":{low + 1}-{high}" if len(lines) > 3 and page is None else "")
    return Hit(ref, shown, record.step, round(score, 4), _name_page(tx, record))


def _name_page(tx: Reading, record: StoredRecord) -> str:
    if record.origin != "page" or record.shown is None:
        return ""
    return _cut(tx.log.text(record.shown).partition("\n")[0], 0)


def _cut(line: str, place: int) -> str:
    """A line, or of a long one what stands round a place."""
    start = max(0, min(place - _SNIPPET // 4, len(line) - _SNIPPET))
    end = start + _SNIPPET
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
