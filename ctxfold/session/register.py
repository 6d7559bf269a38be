"""Keeps plans, extractions and refactorings as chains of events, and loads the register from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from ctxfold.decisions.refactor import VERSION as REFACTORINGS_VERSION
from ctxfold.decisions.refactor import Refactoring
from ctxfold.decisions.register import VERSION, merge_by_id, set_intent
from ctxfold.errors import CorruptStore
from ctxfold.log import place_of
from ctxfold.session.commits import INTENTS, EventKind, Happened, advance, find_voided
from ctxfold.session.load import cover_with
from ctxfold.session.record import Branch
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import State
from ctxfold.workspace import (
    By,
    Constraint,
    Decider,
    Extraction,
    Guidance,
    Intent,
    IntentChange,
    Statement,
    number_of,
)

T = TypeVar("T")


def load_intent(tx: Reading, session: int, root: int) -> Intent:
    """Return the register at an event of its chain, with the session's constraints. Raises CorruptStore."""
    events = {event.seq: event for event in tx.forest.intents(session)}
    payloads = {seq: json.loads(event.json) for seq, event in events.items() if event.kind in INTENTS}
    chain: list[dict[str, Any]] = []
    while root:
        if root not in payloads:
            raise CorruptStore(f"event {root} is no plan; restore a copy of the store")
        chain.append(payloads[root])
        root = int(payloads[root]["was"])
    intent = Intent()
    for payload in reversed(chain):
        if "extraction" in payload:
            intent = replace(intent, extraction=load_value(Extraction, payload["extraction"]))
        else:
            intent = set_intent(intent, load_value(IntentChange, payload["change"]))
    undone = find_voided(list(events.values()))
    constraints: tuple[Constraint, ...] = ()
    for seq, payload in payloads.items():
        if seq not in undone and payload.get("change", {}).get("constraints"):
            constraints = merge_by_id(constraints, load_value(IntentChange, payload["change"]).constraints)
    return replace(intent, constraints=constraints)


def find_next_constraint(tx: Reading, session: int) -> int:
    """Return a number that no constraint of the session ever had, those of voided plans included."""
    numbers = [
        number_of(each["id"])
        for event in tx.forest.intents(session)
        if event.kind == "intent_set"
        for each in json.loads(event.json)["change"]["constraints"]
    ]
    return max(numbers, default=0) + 1


def find_read(tx: Reading, session: int) -> int:
    """Return how many records of a session models have read for extractions in force, on all branches."""
    events = tx.forest.intents(session)
    undone = find_voided(events)
    made = (json.loads(each.json) for each in events if each.kind == "extracted" and each.seq not in undone)
    return max((payload["extraction"].get("read", 0) for payload in made), default=0)


def put_intent(tx: Writing, place: Branch, change: IntentChange, by: By) -> State:
    """Commit a plan; one that changes nothing only says how far it has read, and is no decision to undo."""
    statements: list[Statement] = [*change.constraints, *change.decisions]
    refs = [*(item.ref for item in change.items), *(each.ref for each in statements)]
    kind: EventKind = "read" if change.empty else "intent_set"
    return _put(tx, place, kind, {"change": asdict(change), "steps": _steps_of(refs)}, by)


def put_extraction(tx: Writing, place: Branch, made: Extraction, by: By) -> State:
    """Commit an extraction."""
    steps = _steps_of([each.ref for each in made.extracts])
    return _put(tx, place, "extracted", {"extraction": asdict(made), "steps": steps}, by)


def _put(tx: Writing, place: Branch, kind: EventKind, content: dict[str, Any], by: By) -> State:
    payload = {"was": place.state.intent, "version": VERSION, **content}
    after = replace(place.state, intent=tx.forest.last_event(place.session) + 1)
    happened = Happened(kind, payload, (), by.decider, by.reason)
    return advance(tx, place.session, place.head, place.state, after, happened)


def _steps_of(refs: Sequence[str]) -> list[int]:
    """The steps of refs, each once, in order."""
    return sorted({step for step, _ in map(place_of, refs) if step})


def load_guidance_at(tx: Reading, session: int, root: int) -> Guidance:
    """Return the guidance of the refactoring with event number `root`; 0 for none. Raises CorruptStore."""
    if not root:
        return Guidance()
    event = tx.forest.event(session, root)
    if event is None or event.kind != "refactored":
        raise CorruptStore(f"event {root} is no refactoring; restore a copy of the store")
    return load_value(Guidance, json.loads(event.json)["guidance"])


def put_refactoring(tx: Writing, place: Branch, made: Refactoring, guidance: Guidance, reason: str) -> State:
    """Commit a refactoring. `guidance`: all guidance after it."""
    cover, hashes = place.state.cover, list[bytes]()
    for tile in made.tiles:
        cover, kept = cover_with(tx, place.session, cover, tile)
        hashes.append(kept)
    after = replace(place.state, cover=cover, guide=tx.forest.last_event(place.session) + 1)
    tiles, steps, marks = [tile.number for tile in made.tiles], list(made.steps), list(made.marks)
    payload: dict[str, Any] = {"was": place.state.guide, "version": REFACTORINGS_VERSION, "operator": made.operator}
    payload |= {"tiles": tiles, "steps": steps, "marks": marks, "guidance": asdict(guidance)}
    cause = "; ".join(filter(None, (f"{made.operator}: {made.reason}", reason)))
    happened = Happened("refactored", payload, hashes, made.decider, cause)
    return advance(tx, place.session, place.head, place.state, after, happened)


def put_refused(tx: Writing, place: Branch, what: str, replies: Sequence[tuple[str, str]]) -> State:
    """Commit the refused replies of a model with their faults, as an event that changes nothing else."""
    payload = {"refused": [{"text": text, "why": why} for text, why in replies]}
    happened = Happened("refused", payload, (), "model", what)
    return advance(tx, place.session, place.head, place.state, place.state, happened)


def put_refusal(tx: Writing, place: Branch, decider: Decider, cause: str) -> State:
    """Commit that an operator was refused, and why, as an event that changes nothing else."""
    return advance(tx, place.session, place.head, place.state, place.state, Happened("routed", {}, (), decider, cause))


def load_value(hint: type[T], tree: Any) -> T:
    """Read a value of a dataclass type from JSON made by `dataclasses.asdict`. Raises CorruptStore."""
    try:
        return cast(T, make_adapter(cast(Any, hint)).validate_python(tree))
    except ValidationError as error:
        raise CorruptStore(f"a value of {hint.__name__} does not read back; restore a copy of the store") from error


make_adapter = cache(TypeAdapter[Any])
