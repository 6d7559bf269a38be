"""Commits events, computes their revisions, undoes decisions, and reads a session as it was after an event."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, get_args

from ctxfold.errors import BranchError, CorruptStore, RefError, UndoError
from ctxfold.log import Step
from ctxfold.log.json import canonical
from ctxfold.store.rows import ForestRows, LogRows, Reading, Writing
from ctxfold.store.tables import EventRow, HeadRow, State, StoredRecord, TopicRow
from ctxfold.tokens import count
from ctxfold.workspace import By, Decider

MAIN = "main"
"""The name of a session's first branch and of its topic."""
DecisionKind = Literal["folded", "moved", "renamed", "intent_set", "extracted", "refactored", "restored"]
LogKind = Literal["recorded", "arrived", "redacted"]
EventKind = Literal[DecisionKind, LogKind, "read", "routed", "refused", "noted", "voided"]
DECISIONS: frozenset[EventKind] = frozenset(get_args(DecisionKind))
"""The kinds that undo can void. Records and goals are never voided."""
INTENTS: frozenset[EventKind] = frozenset({"intent_set", "extracted", "read"})
"""The kinds that change the register and leave the cover as it is; `read` only says how far a plan has read the log."""
NAMES = frozenset({"name", "topic_name", "was_name"})
"""Payload keys that hold names. Revisions do not depend on them, so that a rename or an import keeps its revisions."""
GENESIS = State(0, b"\0" * 16, 0, 0, 0, 0, 0)
"""The revision before the first event."""


def find_voided(events: Sequence[EventRow]) -> set[int]:
    """Return the numbers of the decisions that were undone and not redone."""
    gone: set[int] = set()
    undone: dict[int, int] = {}
    for event in events:
        if event.kind == "voided":
            payload = json.loads(event.json)
            target = int(payload["target"])
            if payload["by"] == "undo":
                undone[event.seq] = target
                gone.add(target)
            else:
                gone.discard(undone.get(target, 0))
    return gone


def compute_revision(
    before: bytes, kind: str, payload: dict[str, Any], material: Sequence[bytes], after: State
) -> bytes:
    """Return the id of the revision that an event makes, 16 bytes."""
    revision = blake2b(before, digest_size=16, person=b"revision")
    words = canonical({key: value for key, value in payload.items() if key not in NAMES})
    roots = f"{after.tip} {after.cover} {after.notes} {after.decision} {after.undone}"
    roots += f" {after.intent}" if after.intent else ""
    roots += f" g{after.guide}" if after.guide else ""
    revision.update(f"\0{kind}\0{words}\0{roots}\0".encode("utf-8", "surrogatepass"))
    for piece in material:
        revision.update(piece)
    return revision.digest()


def dump_payload(payload: dict[str, Any]) -> str:
    """Return an event's content as the store keeps it.

    Nothing is escaped without need: two escaped halves of a surrogate pair would join when they are read.
    """
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def head_of(tx: Reading, session: int, branch: int) -> HeadRow:
    """Return a branch by its number. Raises CorruptStore: no such branch."""
    for head in tx.forest.heads(session):
        if head.id == branch:
            return head
    raise CorruptStore(f"branch {branch} is not there; restore a copy of the store")


def state_of(tx: Reading, session: int, head: HeadRow) -> State:
    """Return the revision of a branch's head."""
    if head.seq == 0:
        return GENESIS
    event = tx.forest.event(session, head.seq)
    if event is None:
        raise CorruptStore(f"event {head.seq} is not there; restore a copy of the store")
    return event.state


_NOTHING_LEFT = {
    "undo": "no fold, plan or other decision of it is left",
    "redo": "nothing was undone, or a decision was made since",
}


@dataclass(frozen=True, slots=True)
class Happened:
    """The content of an event.

    Attributes:
        payload: its resolved content as JSON.
        material: hashes of the records and tiles stored with it.
        redoable: whether it is an undo that the branch remembers for a redo.
    """

    kind: EventKind
    payload: dict[str, Any]
    material: Sequence[bytes] = ()
    decider: Decider = "host"
    cause: str = ""
    redoable: bool = False


def advance(tx: Writing, session: int, head: HeadRow, before: State, after: State, what: Happened) -> State:
    """Commit one event on a branch. Returns the revision it makes."""
    seq = tx.forest.last_event(session) + 1
    decided = what.kind in DECISIONS
    undone = seq if what.redoable else 0 if decided else after.undone
    after = replace(after, seq=seq, decision=seq if decided else after.decision, undone=undone)
    after = replace(after, revision=compute_revision(before.revision, what.kind, what.payload, what.material, after))
    words = dump_payload(what.payload)
    tx.forest.add_event(
        session, EventRow(seq, head.id, before.seq, what.kind, what.decider, what.cause, words, time.time(), after)
    )
    tx.forest.change_head(session, head.id, "seq", seq)
    return after


def rename_branch(tx: Writing, session: int, head: HeadRow, name: str) -> None:
    """Give a branch a name, and its topic too where both had one name. Raises BranchError: the name is taken."""
    if any(other.name == name and other.id != head.id for other in tx.forest.heads(session)):
        raise BranchError(f"a branch {name!r} is there already; rename that one first")
    if any(topic.id == head.topic and topic.name == head.name for topic in tx.forest.topics(session)):
        tx.forest.rename_topic(session, head.topic, name)
    tx.forest.change_head(session, head.id, "name", name)


def void_decision(tx: Writing, session: int, here: HeadRow, by: Literal["undo", "redo"]) -> tuple[HeadRow, EventRow]:
    """Undo the newest decision of a branch, or redo the one undone last, as an event.

    The register or the cover of before is restored; steps recorded since then stay, raw. Undoing a move goes back to
    the branch it came from; a branch that the move made keeps its head and its records, for a redo.

    Returns the branch to continue on, and the decision. Raises UndoError: nothing to undo or redo.
    """
    is_undo = by == "undo"
    state = state_of(tx, session, here)
    voided = decision = tx.forest.event(session, state.decision if is_undo else state.undone)
    if voided is not None and not is_undo:
        decision = tx.forest.event(session, int(json.loads(voided.json)["target"]))
    if voided is None or decision is None:
        raise UndoError(f"nothing to {by} on this branch: {_NOTHING_LEFT[by]}")
    before, payload = state_of(tx, session, replace(here, seq=voided.prev)), json.loads(decision.json)
    after = replace(state, decision=before.decision, undone=state.undone if is_undo else before.undone)
    choose = min if is_undo else max  # the shorter chain of the two: a fork may have cut it to less than `before` holds
    content: dict[str, Any] = {"target": voided.seq, "by": by}
    if decision.kind == "renamed":
        content |= {"branch": here.id, "name": payload["was_name" if is_undo else "name"]}
        rename_branch(tx, session, here, content["name"])
    elif decision.kind in INTENTS:
        after = replace(after, intent=choose(state.intent, before.intent))
    elif decision.kind != "moved":
        cover = fit_cover(tx, session, before, state.tip)
        after = replace(after, cover=cover, guide=choose(state.guide, before.guide))
    if decision.kind == "restored":
        notes = before.notes if state.notes == voided.state.notes else state.notes  # a goal set since stays
        after = replace(after, notes=notes, intent=before.intent, guide=before.guide)
    is_move = decision.kind == "moved"
    happened = Happened("voided", content, cause=by, redoable=is_undo and not is_move)
    advance(tx, session, here, state, after, happened)
    if not is_move:
        return here, decision
    there = head_of(tx, session, int(payload["from" if is_undo else "to"]))
    there_before = state_of(tx, session, there)
    is_undecided = there_before.decision == state_of(tx, session, replace(here, seq=decision.prev)).decision
    there_after = there_before if is_undo or not is_undecided else replace(there_before, decision=decision.seq)
    advance(tx, session, there, there_before, there_after, replace(happened, redoable=is_undo))
    tx.sessions.change(session, "current", there.id)
    return there, decision


def fit_cover(tx: Reading, session: int, past: State, tip: int) -> int:
    """Return the newest cell of an older cover that fits a path that ends with step `tip`.

    Tiles that reach beyond the path are left out, and one that lacks newer records of its last step.
    """
    path, cover = dict(tx.log.path(session, tip)), past.cover
    while cover:
        earlier, tile = tx.cover.cell(session, cover)
        n = tx.cover.tile_end(session, tile) or 0
        end = tx.log.step(session, n)
        has_grown = n == past.tip and PastReading(tx, session, past.seq).log.step(session, n) != end
        if end is not None and end.depth <= path.get(end.lane, 0) and not has_grown:
            break
        cover = earlier
    return cover


def find_version(tx: Reading, session: int, at: int | str) -> EventRow:
    """Return the event of a version, given as 12 or `v12`. Raises RefError: there is no such event."""
    number, last = str(at).removeprefix("v"), tx.forest.last_event(session)
    event = tx.forest.event(session, int(number)) if number.isdecimal() and len(number) < 10 else None
    if event is None:
        raise RefError(f"no version {at!r}; `ctxfold log` lists the events, of which v{last} is the newest")
    return event


def restore_version(tx: Writing, session: int, here: HeadRow, at: int | str, by: By) -> State:
    """Go back to an older version of a branch, as a decision. Returns the revision it makes.

    The cover, the register, the guidance and the goal are those of then; steps recorded since stay, raw.

    Raises:
        RefError: no such event.
        BranchError: it happened on another branch.
        UndoError: all of that is in force already.
    """
    version, state = find_version(tx, session, at), state_of(tx, session, here)
    if version.head != here.id:
        name = head_of(tx, session, version.head).name
        raise BranchError(f"v{version.seq} is a version of the branch {name}; switch to {name}, then restore it")
    past, cover = version.state, fit_cover(tx, session, version.state, state.tip)
    after = replace(state, cover=cover, notes=past.notes, intent=past.intent, guide=past.guide)
    if after == state:
        raise UndoError(f"nothing to restore: the folds, register and goal of v{version.seq} are in force already")
    happened = Happened("restored", {"to": version.seq}, (), by.decider, by.reason)
    return advance(tx, session, here, state, after, happened)


class PastReading(Reading):
    """A session as it was after one of its events: the branches, plans and records of then.

    Texts are those of today, so that later redactions hold here too.
    """

    def __init__(self, tx: Reading, session: int, seq: int) -> None:
        super().__init__(tx._query)
        events = tx.forest.events(session, limit=seq)
        self.forest, self.log = _PastForest(tx, events), _PastLog(tx, events)


class _PastForest(ForestRows):
    """Branches and plans after the last of some events."""

    def __init__(self, tx: Reading, events: Sequence[EventRow]) -> None:
        super().__init__(tx._query)
        self._seq, self._ends = len(events), {event.head: event.seq for event in events}
        moves = [json.loads(event.json) for event in events if event.kind in ("moved", "renamed", "voided")]
        self._names = {move.get("branch") or move["to"]: move["name"] for move in moves if "name" in move}

    def heads(self, session: int) -> list[HeadRow]:
        """The branches of then, with their names of then."""
        heads = [head for head in super().heads(session) if head.id in {1, *self._ends}]
        ends, names = self._ends, self._names
        return [replace(each, name=names.get(each.id, MAIN), seq=ends.get(each.id, 0)) for each in heads]

    def topics(self, session: int) -> list[TopicRow]:
        """The topics of then. A topic and its oldest branch have one name."""
        names = {head.topic: head.name for head in reversed(self.heads(session))}
        return [TopicRow(*topic) for topic in sorted(names.items())]

    def intents(self, session: int) -> list[EventRow]:
        """Every plan, extraction, undo and redo up to then, in order."""
        return [event for event in super().intents(session) if event.seq <= self._seq]


class _PastLog(LogRows):
    """The steps and records after the last of some events. Only the tips of then may have grown since."""

    def __init__(self, tx: Reading, events: Sequence[EventRow]) -> None:
        super().__init__(tx._query, tx.search)
        made = [json.loads(event.json) for event in events if event.kind in ("recorded", "arrived")]
        self._tips = set({event.head: event.state.tip for event in events}.values())
        self._known = {(each["step"], k) for each in made for k in each.get("records", [each.get("record")])}

    def records(self, session: int, numbers: Sequence[int], late: bool = False) -> list[StoredRecord]:
        """The records of steps that were there then."""
        return [each for each in super().records(session, numbers, late) if (each.step, each.k) in self._known]

    def _read_step(self, session: int, row: tuple[Any, ...]) -> Step:
        step = super()._read_step(session, row)
        if step.n not in self._tips:
            return step
        shown = [each for late in (False, True) for each in LogRows.records(self, session, [step.n], late)]
        later = [each for each in shown if each.at == step.n and (each.step, each.k) not in self._known]
        raw = sum(count(self.text(each.entry)) for each in later)
        return replace(step, raw=step.raw - raw, raw_upto=step.raw_upto - raw)
