"""From a wish to a committed plan or extraction: what was said and done since is read, the decision resolved, applied and kept.

It works inside a write transaction that the session opens. What is committed is resolved: replaying it decides nothing again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.compact import parse
from ctxfold.current import Current
from ctxfold.errors import InputError, RefError
from ctxfold.events import Decider
from ctxfold.intending import next_constraint, put_extraction, put_intent
from ctxfold.intent.apply import extract, set_intent
from ctxfold.intent.choosing import chosen
from ctxfold.intent.cues import facts_of
from ctxfold.intent.evidence import Deed, succeeded
from ctxfold.intent.planning import Heard, planned
from ctxfold.intent.selections import OVERHEAD, resolved, selections_of
from ctxfold.intent.sources import Source
from ctxfold.intent.told import told, wishes
from ctxfold.intent.values import Cause, Extraction, Intent, IntentChange, Item, Said
from ctxfold.prompts import prompt
from ctxfold.recording import Branch
from ctxfold.refs import BlockRef, StretchRef, parse_ref
from ctxfold.store.protocol import Reading, Writing
from ctxfold.store.values import StoredRecord
from ctxfold.tokens import count
from ctxfold.workspace import Tile, Workspace

__all__ = ["Selections", "Todo", "extracted", "plan"]

Todo = Sequence[str | Mapping[str, Any]]
"""A to-do as it is given: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`."""
Selections = Sequence[Mapping[str, Any]]
"""What to extract as it is given: `{"ref", "why"?, "todo"?, "path"?, "facts"?}`."""

_SEARCHED = 24
_LEAST = 16
_LONG_CALL = 240
"""Characters from which a call is more than the question its result answers."""


def plan(tx: Writing, now: Current, summary: str | None, todo: Todo | None, decider: Decider) -> Intent:
    """Set the intent of a branch: by what was given, and for the rest by the user's words and the deeds since the last plan.

    Raises:
        InputError: a to-do that cannot be read, an unknown item, or a state that nothing shows.
    """
    if summary is not None and not summary.strip():
        raise InputError("an empty summary says nothing; leave it out to keep the one there is")
    given = None if todo is None else wishes(todo)
    place = now.place(tx)
    before = place.workspace.intent
    events, read = _since(tx, place)
    embedded = planned(before, events, next_constraint(tx, place.session), todo=given is None)
    change = replace(embedded, read=read)
    outside = decider != "embedded" and _untrusted(place.workspace)
    if given is not None:
        deeds = [event for event in events if isinstance(event, Deed)]
        items = told(before, given, _Log(tx, place.session), deeds, untrusted=outside)
        change = replace(change, items=items)
    if summary is not None:
        change = replace(change, course=(Said("", "told", summary.strip(), outside),), afresh=True)
    by: Decider = "embedded" if summary is None and given is None else decider
    if change.nothing or (change.afresh and _same(before, change)):
        return before
    after = put_intent(tx, place.session, place.head, place.state, before, change, (by, _cause(change)))
    intent = set_intent(before, change)
    now.intends(after, intent)
    return intent


def _same(before: Intent, change: IntentChange) -> bool:
    return before.course == change.course and not change.items and not change.constraints


def _cause(change: IntentChange) -> str:
    turned = {said.cue for said in change.course} & {"changed", "cancelled", "returned"}
    if turned:
        return f"intent change: {', '.join(sorted(turned))}"
    if change.afresh:
        return "told"
    return "new words" if change.course else "evidence"


def _untrusted(workspace: Workspace) -> bool:
    return workspace.older is not None or any(line.untrusted for block in workspace.blocks for line in block.lines)


def _since(tx: Reading, place: Branch) -> tuple[list[Heard | Deed], tuple[int, int]]:
    """The user's words and the answered calls of a path since it was last read, in order, and where it ends now."""
    session, tip = place.session, place.state.tip
    if not tip:
        return [], (0, 0)
    path = tx.log.path(session, tip)
    step, k = place.workspace.intent.read
    last = tx.log.step(session, step) if step else None
    newest = tx.log.step(session, tip)
    depth = newest.depth if newest else 0
    low = last.depth if last is not None and last.depth <= dict(path).get(last.lane, 0) else 1
    numbers = [each.n for each in tx.log.along(session, path, low, depth)]
    fresh = [record for record in tx.log.records(session, numbers) if record.step != step or record.k > k]
    late = [record for record in tx.log.records(session, numbers, late=True) if record.at != step or low == 1]
    found: list[Heard | Deed] = []
    order = {n: at for at, n in enumerate(numbers)}
    for record in sorted([*fresh, *late], key=lambda each: (order.get(each.at, len(order)), each.id)):
        if record.kind == "user":
            found.append(Heard(f"s{record.step}.{record.k}", tx.log.text(record.entry)))
        elif record.kind == "result":
            deed = _deed(tx, session, record)
            found += [deed] if deed else []
    return found, (tip, max((record.k for record in tx.log.records(session, [tip])), default=0))


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
class _Log:
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
        return [self.source(record) for record in self.tx.log.records(self.session, [step])]

    def source(self, record: StoredRecord) -> Source:
        """A record as an extraction reads it."""
        text = self.tx.log.text(record.entry)
        return Source(record.step, record.k, record.kind, text, record.origin in ("tool", "page"))


def extracted(
    tx: Writing,
    now: Current,
    need: str | None,
    selections: Selections | None,
    budget: int,
    decider: Decider,
) -> Extraction:
    """Put lines of the log at the end of the view: those that were chosen, or those that serve the intent.

    Raises:
        InputError: selections that cannot be read, or of which none names lines that are there; nothing is changed then.
    """
    if budget < _LEAST:
        raise InputError(f"an extraction needs a budget of at least {_LEAST} tokens; 400 is usual")
    place = now.place(tx)
    intent = place.workspace.intent
    log = _Log(tx, place.session)
    made = Extraction((), cause_of(place.workspace, need), " ".join((need or "").split()))
    if selections is not None:
        done = resolved(selections_of(selections), log, frozenset(item.id for item in intent.items), budget)
        if not done.extracts:
            raise InputError(f"nothing was extracted: {'; '.join(done.omitted[:3]) or 'no selection was given'}"[:400])
        made = replace(
            made,
            extracts=tuple(done.extracts),
            counts=tuple(sorted(done.counts.items())),
            omitted=tuple(done.omitted[:40]),
        )
    else:
        made = replace(made, extracts=tuple(_embedded(tx, log, place.workspace, need, budget)))
    tokens = sum(count(each.text) + OVERHEAD for each in made.extracts)
    made = replace(made, tokens=tokens, hint=_hint(intent.open))
    by: Decider = "embedded" if selections is None else decider
    if not made.extracts and not intent.extracts:
        return made
    after = put_extraction(tx, place.session, place.head, place.state, intent, made, by)
    now.intends(after, extract(intent, made))
    return made


def _embedded(tx: Reading, log: _Log, workspace: Workspace, need: str | None, budget: int) -> list[Any]:
    intent = workspace.intent
    said = [line.text.partition(" ")[2] for block in workspace.blocks for line in block.lines if line.kind == "user"]
    parts = (
        [need] if need else [*(item.text for item in intent.open), *said[-1:], *(each.text for each in intent.binding)]
    )
    query = "\n".join(part[:2_000] for part in parts)
    found: dict[int, StoredRecord] = {}
    for asked in (query, *(item.text for item in intent.open[:4] if not need)):
        for row, _ in tx.facts.search(log.session, asked, _SEARCHED):
            record = tx.log.record_by_id(row)
            if record is not None and record.kind in ("result", "call", "note"):
                found[row] = record
    newest = sorted(found.values(), key=lambda record: -record.id)[: 2 * _SEARCHED]
    sources = [log.source(record) for record in newest]
    telling = [source for source in sources if source.kind != "call" or len(source.text) > _LONG_CALL]
    return list(chosen(query, telling, intent.open, budget))


def cause_of(workspace: Workspace, need: str | None) -> Cause:
    """Why something is extracted now: what is needed stands nowhere in the cover, the intent changed, or the cover was folded."""
    if need:
        shown = "\n".join(line.text for block in workspace.blocks for line in block.lines).lower()
        if any(fact.lower() not in shown for fact in facts_of(f". {need}")):
            return "unresolved reference"
    course = workspace.intent.course
    if course and course[-1].cue in ("changed", "cancelled", "returned"):
        return "intent change"
    folded = workspace.older is not None or any(isinstance(block, Tile) for block in workspace.blocks)
    return "budget pressure" if folded and not need else "asked for"


def _hint(items: Sequence[Item]) -> str:
    """What the next act should heed."""
    return prompt("extract_hint", item=items[0].id) if items else ""
