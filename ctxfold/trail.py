"""The evidence of a path, read from the log once and remembered: its calls with what came of them, and the facts they told. It judges nothing.

A record never changes, so what was read of it is kept for as long as the handle lives; a redaction makes the handle forget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxfold.errors import RefError
from ctxfold.refactoring.evidence import act, answered, facts_of
from ctxfold.refactoring.values import Act, Case, Fact
from ctxfold.refs import RecordRef, parse_ref
from ctxfold.store.protocol import Reading
from ctxfold.store.values import StoredRecord
from ctxfold.workspace import Workspace

__all__ = ["Trail"]

_CHUNK = 256


@dataclass(slots=True)
class Trail:
    """What was read of a session's records so far, by their row ids."""

    calls: dict[int, Act] = field(default_factory=dict)
    results: dict[int, tuple[Act, tuple[Fact, ...]]] = field(default_factory=dict)

    def case(self, tx: Reading, session: int, workspace: Workspace, budget: int) -> Case:
        """A workspace with the evidence of the steps that stand in it.

        Args:
            tx: an open transaction; the case may read through it as long as it is open.
            session: the session's row id.
            workspace: what is looked at.
            budget: o200k tokens of a view.
        """
        steps = [step for block in workspace.blocks for step in block.steps]
        acts: list[Act] = []
        facts: list[Fact] = []
        spoken: set[int] = set()
        notes: set[str] = set()
        for at in range(0, len(steps), _CHUNK):
            part = steps[at : at + _CHUNK]
            by_step: dict[int, list[StoredRecord]] = {}
            for record in tx.log.records(session, part):
                by_step.setdefault(record.step, []).append(record)
            for step in part:
                found = by_step.get(step, [])
                acts += self._acts(tx, found)
                facts += [fact for record in found if record.id in self.results for fact in self.results[record.id][1]]
                spoken |= {record.step for record in found if record.kind == "user"}
                notes |= {
                    f"s{record.step}.{record.k}"
                    for record in found
                    if record.kind == "note" and record.origin == "model"
                }
        return Case(
            workspace,
            tuple(acts),
            tuple(sorted(facts, key=lambda fact: fact.order)),
            frozenset(spoken),
            budget,
            tx.cover.next_tile(session),
            frozenset(notes),
            lambda: _history(tx, session, steps),
            lambda ref: _text(tx, session, ref),
        )

    def _acts(self, tx: Reading, records: Sequence[StoredRecord]) -> list[Act]:
        """The calls of a step, in order, each with its first result."""
        results: dict[str | None, list[StoredRecord]] = {}
        for record in records:
            if record.kind == "result":
                results.setdefault(record.call_id, []).append(record)
        made: list[Act] = []
        for record in records:
            if record.kind == "call":
                waiting = self._call(tx, record)
                came = results.get(record.call_id, [])
                made.append(self._result(tx, waiting, came.pop(0)) if came else waiting)
        return made

    def _call(self, tx: Reading, record: StoredRecord) -> Act:
        if record.id not in self.calls:
            self.calls[record.id] = act(record.step, f"s{record.step}.{record.k}", tx.log.text(record.entry))
        return self.calls[record.id]

    def _result(self, tx: Reading, waiting: Act, record: StoredRecord) -> Act:
        if record.id not in self.results:
            ref, text = f"s{record.step}.{record.k}", tx.log.text(record.entry)
            made = answered(waiting, ref, text, record.origin == "page")
            facts = () if made.failure else tuple(facts_of(waiting.key, text, ref, record.id))
            self.results[record.id] = made, facts
        return self.results[record.id][0]


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
