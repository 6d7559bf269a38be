"""Stores refactorings as a chain of events, each with all that stands after it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from ctxfold.decisions.refactor.apply import VERSION
from ctxfold.decisions.refactor.values import Refactoring
from ctxfold.errors import CorruptStore
from ctxfold.session.history.commit import Happened, advance
from ctxfold.session.history.tiles import cover_with
from ctxfold.session.record import Branch
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.store.values import State
from ctxfold.workspace.by import Decider
from ctxfold.workspace.guidance import Guidance, dump_guidance, load_guidance

__all__ = ["guidance_of", "put_refactoring", "put_refusal"]


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
        "version": VERSION,
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
