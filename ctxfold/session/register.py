"""Plans, extracts and notes as a chain of events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctxfold.decisions.refactor import VERSION as REFACTORINGS_VERSION
from ctxfold.decisions.refactor import Refactoring
from ctxfold.decisions.register import VERSION, extract, merged, set_intent
from ctxfold.errors import CorruptStore
from ctxfold.log import place_of
from ctxfold.session.commits import INTENTS, Happened, advance, voided
from ctxfold.session.load import cover_with
from ctxfold.session.record import Branch
from ctxfold.store.rows import EventRow, HeadRow, Reading, State, Writing
from ctxfold.workspace import (
    Constraint,
    Decider,
    Extraction,
    Guidance,
    Intent,
    IntentChange,
    Passed,
    dump_change,
    dump_extraction,
    dump_guidance,
    load_change,
    load_extraction,
    load_guidance,
    number_of,
)

_CHAIN = 32
"""Events of a chain after which one holds all that stood before it."""


def intent_of(tx: Reading, session: int, root: int, tip: int = 0) -> Intent:
    """The intent a revision stands at, with the session's constraints. Raises CorruptStore: an event it needs does not read back."""
    chain: list[tuple[str, dict[str, Any]]] = []
    intent = Intent()
    while root:
        kind, payload = _payload(tx, session, root)
        chain.append((kind, payload))
        root = int(payload["was"])
        if "base" in payload:
            intent, root = _based(payload["base"]), 0
    for kind, payload in reversed(chain):
        if kind == "extracted":
            intent = extract(intent, load_extraction(payload["extraction"]))
        else:
            intent = set_intent(intent, load_change(payload["change"]))
    events = tx.forest.intents(session)
    return replace(intent, constraints=_constraints(events), passed=_passed(tx, session, events, tip))


def _passed(tx: Reading, session: int, events: list[EventRow], tip: int) -> Passed:
    """What the undone plans and extractions on the way to a step had looked at."""
    gone = voided(events)
    path = dict(tx.log.path(session, tip)) if gone and tip else {}
    passed = Passed()
    for event in (tx.forest.event(session, seq) for seq in gone if path):
        if event is None or event.kind not in INTENTS:
            continue
        payload = json.loads(event.json)
        step, k = payload["change"]["read"] if event.kind == "intent_set" else payload.get("read", (event.state.tip, 0))
        last = tx.log.step(session, step)
        if last is not None and last.depth <= path.get(last.lane, 0):
            seen = payload["extraction"].get("seen", 0) if event.kind == "extracted" else 0
            passed = Passed(max(passed.read, (step, k)), max(passed.seen, seen))
    return passed


def _payload(tx: Reading, session: int, seq: int) -> tuple[str, dict[str, Any]]:
    event = tx.forest.event(session, seq)
    if event is None or event.kind not in ("intent_set", "extracted"):
        raise CorruptStore(f"event {seq} is no plan; restore a copy of the store")
    payload: dict[str, Any] = json.loads(event.json)
    return event.kind, payload


def _based(base: dict[str, Any]) -> Intent:
    intent = set_intent(Intent(), load_change(base["intent"])) if base["intent"] is not None else Intent()
    return extract(intent, load_extraction(base["extraction"])) if base["extraction"] is not None else intent


def _constraints(events: list[EventRow]) -> tuple[Constraint, ...]:
    """The constraints of every plan that stands."""
    gone = voided(events)
    found: tuple[Constraint, ...] = ()
    for event in events:
        if event.kind == "intent_set" and event.seq not in gone:
            found = merged(found, load_change(json.loads(event.json)["change"]).constraints)
    return found


def next_constraint(tx: Reading, session: int) -> int:
    """A number no constraint of the session ever had, voided plans included."""
    numbers = [
        number_of(each["id"])
        for event in tx.forest.intents(session)
        if event.kind == "intent_set"
        for each in json.loads(event.json)["change"]["constraints"]
    ]
    return max(numbers, default=0) + 1


def put_intent(
    tx: Writing,
    session: int,
    head: HeadRow,
    state: State,
    before: Intent,
    change: IntentChange,
    said: tuple[Decider, str],
) -> State:
    """Commit a plan on a branch. `before` is the intent it was made on; `said` is who decided, and why in a few words."""
    refs = [item.ref for item in change.items] + [each.ref for each in (*change.constraints, *change.decisions)]
    return _put(
        tx, session, head, state, before, ("intent_set", {"change": dump_change(change), "steps": _steps(refs)}), said
    )


def put_extraction(
    tx: Writing,
    session: int,
    head: HeadRow,
    state: State,
    before: Intent,
    made: Extraction,
    said: tuple[Decider, str],
) -> State:
    """Commit an extraction on a branch. `said` is who decided, and why in a few words."""
    steps = _steps([each.ref for each in made.extracts])
    last = max((record.k for record in tx.log.records(session, [state.tip])), default=0) if state.tip else 0
    payload = {"extraction": dump_extraction(made), "steps": steps, "read": [state.tip, last]}
    return _put(tx, session, head, state, before, ("extracted", payload), said)


def _put(
    tx: Writing,
    session: int,
    head: HeadRow,
    state: State,
    before: Intent,
    what: tuple[Any, dict[str, Any]],
    said: tuple[Decider, str],
) -> State:
    kind, content = what
    payload = {"was": state.intent, "version": VERSION, **content}
    if _length(tx, session, state.intent) >= _CHAIN:
        payload["base"] = _base(before)
    after = replace(state, intent=tx.forest.last_event(session) + 1)
    return advance(tx, session, head, state, after, Happened(kind, payload, (), *said))


def _base(intent: Intent) -> dict[str, Any]:
    change = IntentChange(intent.items, (), intent.decisions, intent.told, intent.read)
    return {
        "intent": dump_change(change),
        "extraction": None if intent.extraction is None else dump_extraction(intent.extraction),
    }


def _length(tx: Reading, session: int, root: int) -> int:
    """Events of a chain since the last that holds all before it."""
    length = 0
    while root and length < _CHAIN:
        _, payload = _payload(tx, session, root)
        length += 1
        root = 0 if "base" in payload else int(payload["was"])
    return length


def _steps(refs: list[str]) -> list[int]:
    """The steps that addresses of records stand in, each once, in order."""
    return sorted({step for step, _ in map(place_of, refs) if step})


def guidance_of(tx: Reading, session: int, root: int) -> Guidance:
    """What the newest refactoring that stands, `root`, left on a branch; 0 for none. Raises CorruptStore when it does not read back."""
    if not root:
        return Guidance()
    event = tx.forest.event(session, root)
    if event is None or event.kind != "refactored":
        raise CorruptStore(f"event {root} is no refactoring; restore a copy of the store")
    return load_guidance(json.loads(event.json)["guidance"])


def put_refactoring(tx: Writing, place: Branch, made: Refactoring, guidance: Guidance, reason: str) -> State:
    """Commit a refactoring on a branch. `guidance`: all that stands after it."""
    cover, hashes = place.state.cover, list[bytes]()
    for tile in made.tiles:
        cover, kept = cover_with(tx, place.session, cover, tile)
        hashes.append(kept)
    after = replace(place.state, cover=cover, guide=tx.forest.last_event(place.session) + 1)
    payload = {
        "was": place.state.guide,
        "version": REFACTORINGS_VERSION,
        "operator": made.operator,
        "tiles": [tile.number for tile in made.tiles],
        "steps": list(made.steps),
        "guidance": dump_guidance(guidance),
    }
    cause = "; ".join(filter(None, (f"{made.operator}: {made.reason}", reason)))
    happened = Happened("refactored", payload, hashes, made.decider, cause)
    return advance(tx, place.session, place.head, place.state, after, happened)


def put_refused(tx: Writing, place: Branch, what: str, replies: Sequence[tuple[str, str]]) -> State:
    """Commit what a model wrote for a decision and why it was refused: it changes nothing but the history of events."""
    payload = {"refused": [{"text": text, "why": why} for text, why in replies]}
    return advance(
        tx, place.session, place.head, place.state, place.state, Happened("refused", payload, (), "model", what)
    )


def put_refusal(tx: Writing, place: Branch, decider: Decider, cause: str) -> State:
    """Commit that an operator was refused, and why: it changes nothing but the history of events."""
    return advance(tx, place.session, place.head, place.state, place.state, Happened("routed", {}, (), decider, cause))
