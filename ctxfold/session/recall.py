"""Recalls exact text by its ref, and finds records by words; what tools and pages said is fenced for a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any

from ctxfold.errors import RefError
from ctxfold.log import UNTRUSTED, Address, RangeRef, RecordRef, StepRef, StretchRef, place_of, spans
from ctxfold.log.json import line_form, parse
from ctxfold.log.lines import fence, unposed
from ctxfold.log.page import page_of
from ctxfold.select.choose import find_best_line
from ctxfold.select.pieces import values_in
from ctxfold.session.commits import state_of
from ctxfold.session.load import read_tile
from ctxfold.store.rows import Reading
from ctxfold.store.search import SEARCHED, Scope
from ctxfold.store.tables import StoredRecord
from ctxfold.text.words import counted, query_words, words
from ctxfold.view.trail import changes_of
from ctxfold.workspace import Change, Workspace

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
        time: when its step began, in seconds since 1970, if `read_records` returned it; else 0.
    """

    ref: str
    text: str
    derived: bool = False
    kind: str = ""
    origin: str = ""
    time: float = 0.0

    def fence(self, part: str | None = None) -> str:
        """Return the text, or a part of it, for a model: text of a tool or page between fences."""
        text = self.text if part is None else part
        return fence(self.ref, text) if self.origin in UNTRUSTED else text


def recall(tx: Reading, session: int, ref: Address, branch: str, reading: bool = False) -> Recalled:
    """Return the text of a ref. Raises RefError: nothing is recorded there.

    `branch` is the reader's; `reading` gives pages as a person reads them.
    """
    match ref:
        case RecordRef():
            return _recall_record(tx, _find_record(tx, session, ref.step, ref.record), reading)
        case RangeRef():
            return _recall_lines(tx, session, ref)
        case StepRef():
            text = _join_records(tx, session, (ref.step,), reading)
        case StretchRef():
            newest = tx.log.last_step(session)
            numbers = [step.n for step in tx.log.steps(session, range(ref.first, min(ref.last, newest) + 1))]
            if not numbers or ref.last > newest:
                raise RefError(_explain_unknown(tx, session, str(ref)))
            text = _join_branches(tx, session, numbers, branch, reading)
        case _:
            newest = tx.cover.next_tile(session) - 1
            if ref.block > newest:
                known = f"the newest of this session is b{newest}" if newest else "nothing is folded yet"
                raise RefError(f"no block {ref}; {known}")
            steps = read_tile(tx, session, ref.block).steps
            text = f"# {ref}: {spans(steps)}\n{_join_records(tx, session, steps, reading)}"
    return Recalled(str(ref), text, derived=True)


def recall_records(tx: Reading, session: int, steps: Sequence[int], reading: bool) -> list[Recalled]:
    """Return the records of steps in the order of the log, each as `recall` returns it."""
    times = {step.n: step.time for step in tx.log.steps(session, steps)}
    records = tx.log.records(session, steps)
    return [replace(_recall_record(tx, each, reading), time=times[each.step]) for each in records]


def _recall_record(tx: Reading, record: StoredRecord, reading: bool) -> Recalled:
    text, derived = _read_text(tx, record, reading)
    return Recalled(f"s{record.step}.{record.k}", text, derived, record.kind, record.origin)


def _read_text(tx: Reading, record: StoredRecord, reading: bool) -> tuple[str, bool]:
    """The text of a record; with `reading`, a page's as a person reads it. And whether it is not the exact text."""
    text = tx.log.text(record.entry)
    page = page_of(text, record.origin) if reading else None
    return (text, False) if page is None else (page, True)


def _recall_lines(tx: Reading, session: int, ref: RangeRef) -> Recalled:
    record = _find_record(tx, session, ref.step, ref.record)
    lines = line_form(tx.log.text(record.entry))
    name = f"s{record.step}.{record.k}"
    if ref.first > len(lines):
        raise RefError(f"{name} has {counted(len(lines), 'line')}; name lines within 1-{len(lines)}")
    last = min(ref.last, len(lines))
    text = "\n".join(lines[ref.first - 1 : last])
    return Recalled(f"{name}:{ref.first}-{last}", text, True, record.kind, record.origin)


def _join_branches(tx: Reading, session: int, numbers: Sequence[int], branch: str, reading: bool) -> str:
    """The records of steps in the order of the log, each run under the name of its branch: the reader's own if it is on
    that.
    """
    heads = sorted(tx.forest.heads(session), key=lambda head: (head.name != branch, head.id))
    paths = [(head.name, dict(tx.log.path(session, state_of(tx, session, head).tip))) for head in heads]
    names = {
        step.n: next((name for name, path in paths if step.depth <= path.get(step.lane, 0)), "none")
        for step in tx.log.steps(session, numbers)
    }
    runs = [(name, list(run)) for name, run in groupby(names, key=names.__getitem__)]
    return "\n".join(f"# {spans(run)}, branch {name}\n{_join_records(tx, session, run, reading)}" for name, run in runs)


def _join_records(tx: Reading, session: int, numbers: Sequence[int], reading: bool) -> str:
    """The records of steps under one heading each. No text of a tool, a page or a model can pass for a heading."""
    records = tx.log.records(session, numbers)
    if not records:
        raise RefError(_explain_unknown(tx, session, f"s{numbers[0]}"))
    parts: list[str] = []
    for record in records:
        ref = f"s{record.step}.{record.k}"
        text, derived = _read_text(tx, record, reading)
        if record.origin in UNTRUSTED:
            text = f"<<{ref}\n{text.replace(f'{ref}>>', f'{ref}> >')}\n{ref}>>"
        elif record.origin == "model":
            text = _HEADING.sub(r"\\", unposed(text))
        call = f" {record.call_id}" if record.call_id else ""
        parts.append(f"## {ref} {record.kind}{call}{', as it reads' if derived else ''}\n{text}")
    return "\n".join(parts)


def _find_record(tx: Reading, session: int, step: int, k: int | None) -> StoredRecord:
    """A record of a step by its number; None for the step's only result."""
    records = tx.log.records(session, [step])
    if not records:
        raise RefError(_explain_unknown(tx, session, f"s{step}" if k is None else f"s{step}.{k}"))
    matches = [record for record in records if (record.kind == "result" if k is None else record.k == k)]
    if len(matches) == 1:
        return matches[0]
    if k is None:
        names = ", ".join(f"s{step}.{record.k}" for record in matches) or "none"
        raise RefError(f"s{step} has {len(matches)} results ({names}); name the record too, as in s{step}.2:1-20")
    known = f"s{step}.1" if len(records) == 1 else f"one of s{step}.1 to s{step}.{len(records)}"
    raise RefError(f"s{step} has {counted(len(records), 'record')}; name {known}")


def _explain_unknown(tx: Reading, session: int, ref: str) -> str:
    last = tx.log.last_step(session)
    steps = f"the steps of this session are s1-s{last}" if last else "this session has no step yet"
    return f"nothing is recorded at {ref}; {steps}"


_SNIPPET, _CALL = 400, 100
"""Characters of a line, and of the call of a result, that a hit shows."""
_WORD = re.compile(r"[^\W_]+")
_EXACT = 200
"""Records in which a name is looked for letter by letter: the newest that hold its words."""
_LATE = 0.6
"""Score of a word beyond the start of a record that the index holds: about that of a word in a single record."""


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
        call: of another result, the start of the call that it answers.
        newer: the ref of what superseded it: a correction, a newer constraint or decision, or the latest change of the
            file or record that its call names; empty if nothing did.
        session: the name of its session; `title`: that session's title, where all were searched.
    """

    ref: str
    text: str
    step: int
    score: float
    page: str = ""
    call: str = ""
    newer: str = ""
    session: str = ""
    title: str = ""

    @property
    def place(self) -> str:
        """Its ref, after its session where all were searched, and what superseded it."""
        was = f"(was; newer {self.newer})" if self.newer else ""
        return " ".join(filter(None, (self.title and self.session, self.ref, was)))

    @property
    def line(self) -> str:
        """All of it on one line."""
        return "  ".join(filter(None, (self.place, self.title, self.page, self.call, join_lines(self.text))))

    @property
    def fenced(self) -> str:
        """The place and the text for a model, the text between fences."""
        return f"{self.place} {fence(self.ref, self.text)}"


def join_lines(text: str) -> str:
    """Return a text as one line, with a sign at each line end, so that two lines do not read as one."""
    return " ⏎ ".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))


def search(tx: Reading, scope: Scope, query: str, limit: int, load: Callable[[int], Workspace]) -> list[Hit]:
    """Return the records that hold words of a query, best first, each with its best lines; of equal records the newest.

    A record that holds a path, an id or the whole query letter by letter comes first. A call that a page answered is
    left out: the page's answer is found. `load` returns the workspace of a session by its number.
    """
    names = _compile_names(query)
    scores = dict(rank_records(tx, scope, query, 2 * limit))
    for name, edges in names.items():
        for record in load_records(tx, tx.search.holding(scope, name, _EXACT)):
            text = tx.log.text(record.entry)
            if held := sum(bool(pattern.search(text)) for pattern in edges):
                scores[record.id] = scores.get(record.id, 0.0) + held * len(_WORD.findall(query))
    patterns = [pattern for edge in zip(*names.values(), strict=True) for pattern in edge]
    asked = frozenset(query_words(query)) | frozenset(words(query))
    hits: dict[int, Hit] = {}

    @cache
    def load_once(session: int) -> tuple[Workspace, tuple[Change, ...]]:
        workspace = load(session)
        return workspace, changes_of(workspace.blocks)

    for record in load_records(tx, sorted(scores, key=lambda row: (-scores[row], -row))):
        if len(hits) == limit:
            break
        records = tx.log.records(record.session, [record.step])
        exchange = [each for each in records if each.call_id == record.call_id] if record.call_id else [record]
        if record.entry not in hits and not (record.kind == "call" and any(each.origin == "page" for each in exchange)):
            hit = replace(_make_hit(tx, record, patterns, asked), score=round(scores[record.id], 4))
            call = next((tx.log.text(each.entry) for each in exchange if each.kind == "call"), "")
            called = [*map(str, find_leaves(parse(call) or {}))]
            newer = _find_newer(hit, called, asked, *load_once(record.session))
            answered = _cut(" ".join(called), 0, _CALL) if record.kind == "result" and record.origin != "page" else ""
            hits[record.entry] = replace(hit, call=answered, newer=newer)
    return list(hits.values())


def _make_hit(tx: Reading, record: StoredRecord, patterns: Sequence[re.Pattern[str]], asked: frozenset[str]) -> Hit:
    """A record as a hit, with its best lines."""
    text, is_page = _read_text(tx, record, reading=True)
    lines = (text.splitlines() or [""]) if is_page else line_form(text)
    best, place = _find_line(lines, patterns, asked)
    low, high = max(0, best - 1), min(len(lines), best + 2)
    shown = "\n".join(_cut(lines[at], place if at == best else 0) for at in range(low, high))
    ref = f"s{record.step}.{record.k}" + (f":{low + 1}-{high}" if len(lines) > 3 and not is_page else "")
    has_title = record.origin == "page" and record.shown is not None
    title = _cut(tx.log.text(record.shown or 0).partition("\n")[0], 0) if has_title else ""
    return Hit(ref, shown, record.step, 0.0, title, session=tx.sessions.name(record.session))


def _find_newer(
    hit: Hit, called: Sequence[str], asked: frozenset[str], workspace: Workspace, changes: Sequence[Change]
) -> str:
    """The ref of what superseded a hit, empty if nothing did. `called`: the arguments of its call."""
    ref = hit.ref.partition(":")[0]
    stated = {each.id: each for each in (*workspace.intent.constraints, *workspace.intent.decisions)}
    gone = [each for each in stated.values() if each.superseded_by and each.ref == ref and asked & {*words(each.text)}]
    refs = [each.by for each in workspace.guidance.superseded if each.was in hit.text and each.by != ref]
    refs += [stated[each.superseded_by].ref for each in gone if each.superseded_by]
    refs += [f"s{each.steps[-1]}" for each in changes if each.name in called]
    return next((each for each in refs if place_of(each)[0] > hit.step), "")


def load_records(tx: Reading, rows: Iterable[int]) -> Iterator[StoredRecord]:
    """Return the records with some row ids, in that order."""
    return filter(None, map(tx.log.record_by_id, rows))


def _compile_names(query: str) -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Patterns of the names in a query: the whole query, and each run that joins words, as paths and ids do.

    The first of two finds the name as a whole, the second also before or after `-` and `.`, as in `open.py-450-`.
    """
    runs = (run.strip(",;:.!?()[]{}<>\"'`") for run in query.split())
    names = [" ".join(query.split()), *(run for run in runs if len(_WORD.findall(run)) > 1)]
    edges = (r"(?<![\w.-])", r"(?!\w|[.-]\w)"), (r"(?<!\w)", r"(?!\w)")
    whole, loose = ({name: re.compile(f"{a}{re.escape(name)}{b}", re.I) for name in names} for a, b in edges)
    return {name: (whole[name], loose[name]) for name in names}


def _find_line(lines: Sequence[str], names: Sequence[re.Pattern[str]], asked: frozenset[str]) -> tuple[int, int]:
    """Find the line with a name, else with most of the asked words, and the place in it."""
    for pattern in names:
        places = {at: match.start() for at, line in enumerate(lines) if (match := pattern.search(line))}
        if places:
            best = list(places)[find_best_line([lines[at] for at in places], asked)[0]]
            return best, places[best]
    return find_best_line(lines, asked)


def rank_records(tx: Reading, scope: Scope, query: str, limit: int) -> list[tuple[int, float]]:
    """Return the row ids of records that hold words of a query, best first, each with a score that grows with fit."""
    scores = dict(tx.search.ranked(scope, query, limit))
    asked = dict.fromkeys(_WORD.findall(query.lower()))
    for record in tx.log.longer(scope, SEARCHED):  # the index holds the start of these alone
        low = tx.log.text(record.entry).lower()
        patterns = [re.compile(rf"{word}(?<![^\W_]{word})(?![^\W_])") for word in asked]
        late = sum(bool(each.search(low, SEARCHED) and not each.search(low, 0, SEARCHED)) for each in patterns)
        if late:
            scores[record.id] = scores.get(record.id, 0.0) + late * _LATE
    return sorted(scores.items(), key=lambda each: (-each[1], -each[0]))[:limit]


def _cut(line: str, place: int, most: int = _SNIPPET) -> str:
    """A line, cut around a place where it is long."""
    start = max(0, min(place - most // 4, len(line) - most))
    end = start + most
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
        call = parse(tx.log.text(record.entry)) or {}  # a redaction may leave no JSON
        arguments = map(str, find_leaves(call.get("args")))
        values = {value.lower(): value for text in arguments for value in _find_values(text)}
        spelled |= values
        for value in values:
            worth[value] = worth.get(value, 0.0) + 1 / (_HALVING + age)
    low, taken = shown.lower(), list[str]()
    for value in sorted(worth, key=lambda each: -worth[each]):
        if len(value) < room and value not in low and not any(value in other for other in taken):
            taken.append(value)
            room -= len(value) + 1
    return tuple(spelled[value] for value in sorted(taken))


def find_leaves(tree: Any) -> Iterator[Any]:
    """Return the scalars of a JSON tree."""
    if isinstance(tree, (dict, list)):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from find_leaves(each)
    else:
        yield tree


def _find_values(text: str) -> Iterator[str]:
    """The ids, paths, numbers and joined names in a text, as it writes them."""
    if _PATH.fullmatch(text):
        yield text
    for line in text.splitlines():
        for value in values_in(line):
            if len(value) > 2 and _EXACT_VALUE.search(value):
                yield from re.findall(re.escape(value), line, re.IGNORECASE)[:1]
