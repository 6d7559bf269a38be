"""Reads the log for whoever decides: records that hold some words, the text of steps, and the calls of a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ctxfold.config import FoldSettings
from ctxfold.decisions.marks import MARK, LogEvidence
from ctxfold.decisions.refactor import Case
from ctxfold.decisions.refactor.operators import read_past_call
from ctxfold.decisions.register import EntrySource
from ctxfold.errors import RefError
from ctxfold.log import parse_ref
from ctxfold.log.lines import text_of
from ctxfold.log.page import page_of
from ctxfold.session.handle import Handle
from ctxfold.session.load import lines_at
from ctxfold.session.recall import Recalled, load_records, rank_records, recall, recall_records
from ctxfold.session.record import Branch, match_calls
from ctxfold.store.rows import Reading
from ctxfold.store.tables import StoredRecord
from ctxfold.text.words import is_common
from ctxfold.workspace import Item, Statement, Workspace

Place = tuple[int, int]
"""The step of a record, and its number in that step."""
_LINE_END = "\\n"
"""A line end in the JSON of a call: the call brings text of its own, such as a file that it writes."""
_SEARCHED = 12
"""Records of a search that are compared letter by letter."""
_NEAR = 31
"""Days from the time of a step to the farthest date that a relative one in it, such as "next month", may mean."""
_QUERY = 300
"""Characters of a text by which a record that quotes it is searched."""


def find_end(tx: Reading, session: int, tip: int) -> Place:
    """Return the place of the last record of a path that ends with a step."""
    return (tip, max((record.k for record in tx.log.records(session, [tip])), default=0)) if tip else (0, 0)


def list_path(tx: Reading, session: int, tip: int, after: int = 0) -> list[int]:
    """Return the steps of a path after a step."""
    path = tx.log.path(session, tip) if tip else ()
    return [step.n for step in tx.log.along(session, path, 1, path[0][1]) if step.n > after] if path else []


@dataclass(frozen=True)
class Sources:
    """The log of a session, as plans and extractions read it."""

    tx: Reading
    session: int

    def of(self, step: int) -> list[EntrySource]:
        """Return the records of a step in order."""
        return [self.read(record) for record in self.tx.log.records(self.session, [step])] if step else []

    def quoting(self, text: str) -> EntrySource | None:
        """Return a record that holds a text: one of the user before a result, a result before any other."""
        plain = " ".join(text.split()).casefold()
        rows = (row for row, _ in self.tx.search.ranked(self.session, plain[:_QUERY], _SEARCHED))
        holding = [
            record
            for record in load_records(self.tx, rows)
            if plain in " ".join(self.tx.log.text(record.entry).split()).casefold()
        ]
        order = {"user": 0, "result": 1}
        best = min(holding, key=lambda record: (order.get(record.kind, 2), record.id), default=None)
        return None if best is None else self.read(best)

    def find(self, queries: Sequence[str], most: int) -> list[EntrySource]:
        """Return the newest results, notes and calls with text that hold words of a query, twice `most` in all."""
        rows: dict[int, StoredRecord] = {}
        for query in queries:
            rare = " ".join(word for word in query.split() if not is_common(word.strip(".,:;!?"))) or query
            ranked = rank_records(self.tx, self.session, rare, most)
            for record in load_records(self.tx, (row for row, _ in ranked)):
                if record.kind in ("result", "call", "note"):
                    rows[record.id] = record
        newest = sorted(rows.values(), key=lambda record: -record.id)[: 2 * most]
        sources = [self.read(record) for record in newest]
        return [source for source in sources if source.kind != "call" or _LINE_END in source.text]

    def read(self, record: StoredRecord) -> EntrySource:
        """Return a record with its text."""
        text = self.tx.log.text(record.entry)
        return EntrySource(record.step, record.k, record.kind, text, record.origin in ("tool", "page"))


def read_records(now: Handle, steps: Sequence[int], reading: bool, most: int) -> list[Recalled]:
    """Return the records of steps, as `Session.read_records` does, each step in a transaction of its own."""
    newest_first: list[list[Recalled]] = []
    left = most
    for step in reversed(steps):
        with now.reading() as tx:
            newest_first.append(recall_records(tx, now.session, [step], reading))
        left -= sum(min(len(each.text), most // 8) for each in newest_first[-1])
        if left < 0:
            break
    return [each for records in reversed(newest_first) for each in records]


def read_case(
    tx: Reading, place: Branch, workspace: Workspace, budget: int, settings: FoldSettings, named: bool
) -> Case:
    """Return a workspace with the evidence of its records. The case may read through `tx` while it is open."""
    session = place.session
    steps = [step for block in workspace.blocks for step in block.steps]
    records = tx.log.records(session, steps)
    answers: dict[int, StoredRecord] = {}
    for result, call in match_calls(records):
        answers.setdefault(call.id, result)
    calls: dict[int, list[tuple[str, str]]] = {}
    for record in records:
        if record.kind == "call":
            answer = answers.get(record.id)
            text = None if answer is None else tx.log.text(answer.entry)
            is_page = answer is not None and answer.origin == "page"
            past = read_past_call(tx.log.text(record.entry), text, is_page)
            calls.setdefault(record.step, []).append(past)
    said = frozenset(record.step for record in records if record.kind == "user")
    notes = frozenset(f"s{each.step}.{each.k}" for each in records if each.kind == "note" and each.origin == "model")
    readers = (lambda: read_evidence(tx, place, steps), lambda ref: _read_text(tx, session, ref))
    return Case(workspace, calls, said, budget, settings, tx.cover.next_tile(session), notes, named, *readers)


def read_evidence(tx: Reading, place: Branch, steps: Sequence[int]) -> LogEvidence:
    """Return the texts that a summary of steps may take values from, and the steps that it may refer to.

    The texts are the steps' records, exact and as read, with their times; the goal, the user's words, the register, the
    tools. Without steps, the whole path is read, and a date may be one that is near those times: what "tomorrow" means.
    """
    workspace, session, tip, texts = place.workspace, place.session, place.state.tip, list[str]()
    is_whole, steps = not steps, steps or list_path(tx, session, tip)
    records = [*tx.log.records(session, steps), *tx.log.records(session, steps, late=True)]
    for record in {record.id: record for record in records}.values():
        text = tx.log.text(record.entry)
        texts += [text, *filter(None, [page_of(text, record.origin)])]
        if record.shown is not None or record.kind == "call":
            texts.append(text_of(lines_at(tx, record)))
    times = [datetime.fromtimestamp(step.time, UTC) for step in tx.log.steps(session, steps)]
    texts += map(str, times)
    texts += [line.text for line in (*workspace.words, *(line for block in workspace.blocks for line in block.said))]
    intent = workspace.intent
    entries: Sequence[Item | Statement] = (*intent.items, *intent.constraints, *intent.decisions)
    texts += [*workspace.goals, tx.cover.newest_note(session, "tools"), *(each.id for each in entries)]
    texts += [each.text for each in entries if MARK not in each.text]
    days = {time.date() for time in times}
    near = {str(day + timedelta(ahead)) for day in days for ahead in range(-_NEAR, _NEAR + 1)} if is_whole else ()
    return LogEvidence(texts, range(1, tip + 1), near)


def _read_text(tx: Reading, session: int, ref: str) -> str:
    """The exact text of a record; else empty."""
    try:
        return recall(tx, session, parse_ref(ref), "").text
    except RefError:
        return ""
