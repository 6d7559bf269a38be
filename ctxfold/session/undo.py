"""Undo and redo: void the newest decision, or void the last undo, as events themselves."""

from __future__ import annotations

import json
from dataclasses import replace

from ctxfold.errors import UndoError
from ctxfold.session.branches import put_name
from ctxfold.session.commits import GENESIS, INTENTS, Happened, advance, head_of, state_of
from ctxfold.store.rows import EventRow, HeadRow, Reading, State, Writing


def undo(tx: Writing, session: int, here: HeadRow) -> tuple[HeadRow, EventRow]:
    """Void the newest decision of a branch.

    The cover is as it was before it; steps recorded since stay, raw. A move is undone by going back where it came from;
    a branch it made keeps its head, its records and what was undone on it, for a redo of the move.

    Raises:
        UndoError: no decision is left on this branch.
    """
    state = state_of(tx, session, here)
    target = _event(tx, session, state.decision)
    if target is None:
        raise UndoError("nothing to undo on this branch: no fold, plan or other decision of it is left")
    before = _before(tx, session, target)
    if target.kind == "renamed":
        put_name(tx, session, here, json.loads(target.json)["was_name"])
    if target.kind != "moved":
        after = replace(_without(state, before, target.kind), decision=before.decision)
        _void(tx, session, here, (state, after), (target, "undo"), redoable=True)
        return here, target
    origin = head_of(tx, session, int(json.loads(target.json)["from"]))
    _void(tx, session, here, (state, replace(state, decision=before.decision)), (target, "undo"))
    there = state_of(tx, session, origin)
    _void(tx, session, origin, (there, there), (target, "undo"), redoable=True)
    tx.sessions.settle(session, origin.id)
    return origin, target


def redo(tx: Writing, session: int, here: HeadRow) -> tuple[HeadRow, EventRow]:
    """Void the last undo of a branch: what it undid stands again. A move leads to its branch as that stands now.

    Raises:
        UndoError: nothing was undone, or a decision was made since.
    """
    state = state_of(tx, session, here)
    undoing = _event(tx, session, state.undone)
    if undoing is None:
        raise UndoError("nothing to redo on this branch: nothing was undone, or a decision was made since")
    target = _event(tx, session, int(json.loads(undoing.json)["target"]))
    if target is None:
        raise UndoError("what was undone is not there any more: decide it anew")
    before = _before(tx, session, undoing)
    if target.kind == "renamed":
        put_name(tx, session, here, json.loads(target.json)["name"])
    if target.kind != "moved":
        after = replace(_with(state, before, target.kind), decision=before.decision, undone=before.undone)
        _void(tx, session, here, (state, after), (undoing, "redo"))
        return here, target
    _void(tx, session, here, (state, replace(state, undone=before.undone)), (undoing, "redo"))
    there = head_of(tx, session, int(json.loads(target.json)["to"]))
    at, left = state_of(tx, session, there), _before(tx, session, target).decision
    _void(
        tx,
        session,
        there,
        (at, replace(at, decision=target.seq if at.decision == left else at.decision)),
        (undoing, "redo"),
    )
    tx.sessions.settle(session, there.id)
    return there, target


def _void(
    tx: Writing,
    session: int,
    head: HeadRow,
    states: tuple[State, State],
    what: tuple[EventRow, str],
    *,
    redoable: bool = False,
) -> None:
    """Commit that a decision, or an undo, holds no more: the branch's revision before it and after it, the event and who asked."""
    event, by = what
    happened = Happened("voided", {"target": event.seq, "by": by}, cause=by, redoable=redoable)
    advance(tx, session, head, *states, happened)


def _without(state: State, before: State, kind: str) -> State:
    """A revision without what a decision changed; a name is no part of it."""
    if kind in INTENTS:
        return replace(state, intent=min(state.intent, before.intent))
    if kind == "renamed":
        return state
    return replace(state, cover=before.cover, guide=min(state.guide, before.guide))


def _with(state: State, before: State, kind: str) -> State:
    """A revision with what a decision changed, as it stood before the decision was undone."""
    if kind in INTENTS:
        return replace(state, intent=before.intent)
    return state if kind == "renamed" else replace(state, cover=before.cover, guide=before.guide)


def _event(tx: Reading, session: int, seq: int) -> EventRow | None:
    return tx.forest.event(session, seq) if seq else None


def _before(tx: Reading, session: int, event: EventRow) -> State:
    earlier = _event(tx, session, event.prev)
    return GENESIS if earlier is None else earlier.state
