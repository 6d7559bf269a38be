"""What of the log an intent is decided on: the user's words and the deeds since it was last read, records as evidence and as sources. It decides nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxfold.decisions.intent.evidence import Deed
from ctxfold.decisions.intent.plan import Heard
from ctxfold.decisions.intent.sources import Source
from ctxfold.decisions.refactor.repetition import call_of
from ctxfold.decisions.refactor.values import Call, Case
from ctxfold.errors import RefError
from ctxfold.log.compact.cells import parse
from ctxfold.log.compact.outcome import succeeded
from ctxfold.log.refs import BlockRef, RecordRef, StretchRef, parse_ref
from ctxfold.session.search import ranked
from ctxfold.store.protocol import Reading
from ctxfold.store.values import StoredRecord
from ctxfold.text import STOP_WORDS
from ctxfold.workspace.workspace import Workspace

__all__ = ["Place", "Sources", "Trail", "since"]


Place = tuple[int, int]
"""Where a record stands: its step, and its place in that."""


def since(tx: Reading, session: int, tip: int, read: Place) -> tuple[list[Heard | Deed], Place]:
    """The user's words and the answered calls of a path behind a place, in order, and where the path ends now.

    A page that was looked at is no deed: seeing a thing does not get it done.

    Args:
        tx: an open transaction.
        session: the session's row id.
        tip: the last step of the path.
        read: up to where it was read before.
    """
    if not tip:
        return [], (0, 0)
    path = tx.log.path(session, tip)
    step, k = read
    last = tx.log.step(session, step) if step else None
    newest = tx.log.step(session, tip)
    depth = newest.depth if newest else 0
    low = last.depth if last is not None and last.depth <= dict(path).get(last.lane, 0) else 1
    along = [each.n for each in tx.log.along(session, path, max(1, low - _BEHIND), depth)]
    numbers = [each.n for each in tx.log.along(session, path, low, depth)]
    records = tx.log.records(session, along)
    known = set(numbers)
    fresh = [record for record in records if record.step in known and (record.step != step or record.k > k)]
    late = [record for record in tx.log.records(session, numbers, late=True) if record.at != step or low == 1]
    found: list[Heard | Deed] = []
    turns = (
        _turns(tx, records, {n: at for at, n in enumerate(along)}) if any(each.kind == "user" for each in fresh) else {}
    )
    order = {n: at for at, n in enumerate(numbers)}
    for record in sorted([*fresh, *late], key=lambda each: (order.get(each.at, len(order)), each.id)):
        if record.kind == "user":
            found.append(Heard(f"s{record.step}.{record.k}", tx.log.text(record.entry), *turns[record.id]))
        elif record.kind == "result" and record.origin != "page":
            deed = _deed(tx, session, record)
            found += [deed] if deed else []
    return found, (tip, max((record.k for record in tx.log.records(session, [tip])), default=0))


def _turns(
    tx: Reading, records: Sequence[StoredRecord], order: dict[int, int]
) -> dict[int, tuple[str, tuple[str, ...]]]:
    """For each message of the user, what was replied before it, without a call, and to which of the user's records."""
    called = {record.step for record in records if record.kind == "call"}
    found: dict[int, tuple[str, tuple[str, ...]]] = {}
    reply, asked = "", tuple[str, ...]()
    for record in sorted(records, key=lambda each: (order.get(each.at, len(order)), each.id)):
        if record.kind == "user":
            found[record.id] = (reply, asked)
            asked = (f"s{record.step}.{record.k}",) if reply else (*asked, f"s{record.step}.{record.k}")
            reply = ""
        elif record.kind == "assistant" and record.step not in called:
            reply = tx.log.text(record.entry)
    return found


_BEHIND = 12
"""Steps before what is new in which is looked for what was replied last."""


def _deed(tx: Reading, session: int, result: StoredRecord) -> Deed | None:
    calls = [
        record
        for record in tx.log.records(session, [result.step])
        if record.kind == "call" and record.call_id == result.call_id
    ]
    if not calls:
        return None
    said = parse(tx.log.text(calls[0].entry))
    name = str(said.get("name", "")) if isinstance(said, dict) else ""
    args = json.dumps(said.get("args"), ensure_ascii=False, default=str) if isinstance(said, dict) else ""
    step = result.step
    return Deed(f"s{step}.{calls[0].k}", f"s{step}.{result.k}", name, args, tx.log.text(result.entry))


@dataclass(frozen=True)
class Sources:
    """The log of a session, as evidence and as sources."""

    tx: Reading
    session: int

    def shows(self, ref: str) -> tuple[str, ...] | None:
        """The records behind an address that can be evidence."""
        try:
            named = parse_ref(ref)
        except RefError:
            return None
        if isinstance(named, (BlockRef, StretchRef)):
            return None
        wanted = getattr(named, "record", None)
        found: list[str] = []
        for record in self.tx.log.records(self.session, [named.step]):
            if wanted is not None and record.k != wanted:
                continue
            if record.kind == "user":
                found.append(f"s{record.step}.{record.k}")
            elif record.kind in ("result", "call"):
                found += self._answered(record)
        return tuple(dict.fromkeys(found)) or None

    def _answered(self, record: StoredRecord) -> list[str]:
        """A call and a result of it that says it succeeded."""
        for other in self.tx.log.records(self.session, [record.step]):
            if other.kind == "result" and other.call_id == record.call_id and succeeded(self.tx.log.text(other.entry)):
                return [f"s{record.step}.{record.k}", f"s{other.step}.{other.k}"]
        return []

    def of(self, step: int) -> list[Source]:
        """The records of a step in order."""
        return [self._source(record) for record in self.tx.log.records(self.session, [step])]

    def found(self, queries: Sequence[str], most: int, *, whole: bool) -> list[Source]:
        """Results, notes and telling calls that hold words of any query, the newest first.

        Args:
            queries: words; each is searched by itself.
            most: records a query may bring.
            whole: whether long records are read to their end, which takes some tenths of a second for tens of megabytes.
        """
        rows: dict[int, StoredRecord] = {}
        for asked in queries:
            telling = " ".join(word for word in asked.split() if word.lower().strip(".,:;!?") not in STOP_WORDS)
            for row, _ in self._ranked(telling or asked, most, whole):
                record = self.tx.log.record_by_id(row)
                if record is not None and record.kind in ("result", "call", "note"):
                    rows[row] = record
        newest = sorted(rows.values(), key=lambda record: -record.id)[: 2 * most]
        sources = [self._source(record) for record in newest]
        return [source for source in sources if source.kind != "call" or len(source.text) > _LONG_CALL]

    def _ranked(self, query: str, most: int, whole: bool) -> list[tuple[int, float]]:
        return ranked(self.tx, self.session, query, most) if whole else self.tx.facts.search(self.session, query, most)

    def holds(self, name: str, upto: Place) -> bool:
        """Whether a record up to a place, said by no user, holds a name."""
        for row in self.tx.facts.holding(self.session, name, _LOOKED):
            record = self.tx.log.record_by_id(row)
            if record is None or record.kind == "user" or (record.step, record.k) > upto:
                continue
            if name.lower() in self.tx.log.text(record.entry).lower():
                return True
        return False

    def _source(self, record: StoredRecord) -> Source:
        text = self.tx.log.text(record.entry)
        return Source(record.step, record.k, record.kind, text, record.origin in ("tool", "page"))


_LONG_CALL = 240
"""Characters from which a call is more than the question its result answers."""
_LOOKED = 12


_CHUNK = 256
_GROWING = 2
"""Steps at the end of a path that may still take records."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a step shows: its calls, whether the user spoke in it, and the notes a model wrote in it."""

    calls: tuple[Call, ...] = ()
    spoken: bool = False
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Trail:
    """What was read of a session's steps so far, and which of them may have taken records since."""

    seen: dict[int, _Seen] = field(default_factory=dict)
    growing: set[int] = field(default_factory=set)

    def case(self, tx: Reading, session: int, workspace: Workspace, budget: int, named: bool = False) -> Case:
        """A workspace with the evidence of the steps that stand in it.

        Args:
            tx: an open transaction; the case may read through it as long as it is open.
            session: the session's row id.
            workspace: what is looked at.
            budget: o200k tokens of a view.
            named: whether somebody named the operator.
        """
        steps = [step for block in workspace.blocks for step in block.steps]
        self._read(tx, session, steps)
        seen = [(step, self.seen[step]) for step in steps]
        return Case(
            workspace,
            tuple(call for _, each in seen for call in each.calls),
            frozenset(step for step, each in seen if each.spoken),
            budget,
            tx.cover.next_tile(session),
            frozenset(note for _, each in seen for note in each.notes),
            named,
            lambda: _history(tx, session, steps),
            lambda ref: _text(tx, session, ref),
        )

    def _read(self, tx: Reading, session: int, steps: Sequence[int]) -> None:
        """Read the steps that are new, those that may have grown, and those that late results came to."""
        fresh = {step for step in steps if step not in self.seen} | self.growing.intersection(steps)
        self.growing |= set(steps[-_GROWING:])
        wanted = sorted(fresh)
        for at in range(0, len(wanted), _CHUNK):
            fresh |= {record.step for record in tx.log.records(session, wanted[at : at + _CHUNK], late=True)}
        wanted = sorted(fresh)
        for at in range(0, len(wanted), _CHUNK):
            part = wanted[at : at + _CHUNK]
            by_step: dict[int, list[StoredRecord]] = {step: [] for step in part}
            for record in tx.log.records(session, part):
                by_step[record.step].append(record)
            self.seen.update((step, _seen(tx, found)) for step, found in by_step.items())
        self.growing -= set(steps[:-_GROWING])


def _seen(tx: Reading, records: Sequence[StoredRecord]) -> _Seen:
    """What the records of a step show; each call with its first result."""
    results: dict[str | None, list[StoredRecord]] = {}
    for record in records:
        if record.kind == "result":
            results.setdefault(record.call_id, []).append(record)
    calls: list[Call] = []
    for record in records:
        if record.kind == "call":
            came = results.get(record.call_id, [])
            result = came.pop(0) if came else None
            text = None if result is None else tx.log.text(result.entry)
            page = result is not None and result.origin == "page"
            calls.append(call_of(record.step, tx.log.text(record.entry), text, page))
    notes = tuple(f"s{each.step}.{each.k}" for each in records if each.kind == "note" and each.origin == "model")
    return _Seen(tuple(calls), any(record.kind == "user" for record in records), notes)


def _history(tx: Reading, session: int, steps: Sequence[int]) -> str:
    """The exact text of every record of some steps."""
    parts: list[str] = []
    for at in range(0, len(steps), _CHUNK):
        parts += [tx.log.text(record.entry) for record in tx.log.records(session, steps[at : at + _CHUNK])]
    return "\n".join(parts)


def _text(tx: Reading, session: int, ref: str) -> str:
    """The exact text of a record; empty where there is none."""
    try:
        named = parse_ref(ref)
    except RefError:
        return ""
    if not isinstance(named, RecordRef):
        return ""
    found = [record for record in tx.log.records(session, [named.step]) if record.k == named.record]
    return tx.log.text(found[0].entry) if found else ""
