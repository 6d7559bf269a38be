"""Applies a branch move to the stored heads. Forking adds one head; nothing is copied.

Source: Context-Agent's discourse forest: a topic is a tree, a branch a path in it.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any, assert_never

from ctxfold.decisions.branch.values import BranchMove
from ctxfold.errors import BranchError, SessionNameError
from ctxfold.session.history.commit import GENESIS, Happened, advance, state_of
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.store.values import HeadRow, State, TopicRow

__all__ = ["MAIN", "check_name", "move", "put_name", "truncated"]

MAIN = "main"
"""The branch a session begins with, and the topic it stands in."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def check_name(name: object, what: str = "session") -> str:
    """The name, when it is one. Raises SessionNameError when it is not."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = repr(name if len(name) <= 40 else name[:37] + "...") if isinstance(name, str) else "what is no text"
        raise SessionNameError(
            f"{shown} cannot name a {what}; use 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit"
        )
    return name


def move(tx: Writing, session: int, here: HeadRow, wish: BranchMove) -> tuple[HeadRow, State]:
    """Apply a move, made on the branch `here`; the branch it led to and its revision. Raises BranchError: a name that is taken or unknown, or a step that is not on this branch."""
    heads = tx.forest.heads(session)
    match wish.action:
        case "continue":
            return here, state_of(tx, session, here)
        case "rename":
            return _rename(tx, session, here, wish)
        case "create":
            name = _free_name(heads, wish.to, "branch")
            origin, start = truncated(tx, session, here, wish.at)
            made = HeadRow(len(heads) + 1, name, origin.topic, start.seq, time.time())
            return _enter(tx, session, made, start, here, wish)
        case "new_topic":
            name = _free_name(heads, wish.to, "topic")
            topic = TopicRow(len(tx.forest.topics(session)) + 1, name)
            tx.forest.add_topic(session, topic)
            start = replace(GENESIS, notes=state_of(tx, session, here).notes)
            return _enter(tx, session, HeadRow(len(heads) + 1, name, topic.id, 0, time.time()), start, here, wish)
        case "switch":
            there = next((head for head in heads if head.name == wish.to), None)
            if there is None:
                lacking = "a branch's name is missing; give it in `to`" if wish.to is None else f"no branch {wish.to!r}"
                raise BranchError(f"{lacking}; the branches are {', '.join(head.name for head in heads)}")
            if there.id == here.id:
                return there, state_of(tx, session, there)
            return _arrive(tx, session, there, state_of(tx, session, there), here, wish)
        case _:
            assert_never(wish.action)


def _free_name(heads: list[HeadRow], wanted: str | None, kind: str) -> str:
    taken = {head.name for head in heads}
    if wanted is not None:
        if check_name(wanted, "branch") in taken:
            raise BranchError(f"a branch {wanted!r} is there already; switch to it or choose another name")
        return wanted
    return next(name for number in range(2, len(heads) + 3) if (name := f"{kind}-{number}") not in taken)


def _rename(tx: Writing, session: int, here: HeadRow, wish: BranchMove) -> tuple[HeadRow, State]:
    """The branch under another name; a topic that is called like it takes the name too."""
    if wish.to is None:
        raise BranchError("a new name is missing; give it in `to`")
    state = state_of(tx, session, here)
    if wish.to == here.name:
        return here, state
    _free_name(tx.forest.heads(session), wish.to, "branch")
    payload = {"branch": here.id, "name": wish.to, "was_name": here.name}
    put_name(tx, session, here, wish.to)
    after = advance(tx, session, here, state, state, Happened("renamed", payload, (), wish.decider, "rename"))
    return replace(here, name=wish.to, seq=after.seq), after


def put_name(tx: Writing, session: int, head: HeadRow, name: str) -> None:
    """Give a branch a name, and its topic too where that was called like the branch. Raises BranchError: another branch has the name."""
    if any(other.name == name and other.id != head.id for other in tx.forest.heads(session)):
        raise BranchError(f"a branch {name!r} is there already; rename that one first")
    if any(topic.id == head.topic and topic.name == head.name for topic in tx.forest.topics(session)):
        tx.forest.rename_topic(session, head.topic, name)
    tx.forest.rename_head(session, head.id, name)


def _enter(
    tx: Writing, session: int, head: HeadRow, start: State, here: HeadRow, wish: BranchMove
) -> tuple[HeadRow, State]:
    tx.forest.add_head(session, head)
    return _arrive(tx, session, head, start, here, wish)


def _arrive(
    tx: Writing, session: int, there: HeadRow, before: State, here: HeadRow, wish: BranchMove
) -> tuple[HeadRow, State]:
    payload: dict[str, Any] = {"action": wish.action, "from": here.id, "to": there.id}
    payload |= {"tip": before.tip, "name": there.name}
    if wish.action == "new_topic":
        payload["topic"] = there.topic
    happened = Happened("moved", payload, (), wish.decider, wish.reason or wish.action)
    after = advance(tx, session, there, before, before, happened)
    tx.sessions.settle(session, there.id)
    return there, after


def truncated(tx: Reading, session: int, here: HeadRow, at: int | None) -> tuple[HeadRow, State]:
    """The branch a step lies on, this one first, and its revision with the path ended there; the cover keeps the tiles that end by then.

    Raises:
        BranchError: no branch has such a step.
    """
    if at is None:
        return here, state_of(tx, session, here)
    step = tx.log.step(session, at)
    for head in (here, *(head for head in tx.forest.heads(session) if head.id != here.id)):
        state = state_of(tx, session, head)
        if step is not None and step.depth <= dict(tx.log.path(session, state.tip)).get(step.lane, 0):
            return head, replace(
                state,
                tip=at,
                cover=_cover_by(tx, session, state.cover, step.depth),
                intent=_made_by(tx, session, state.intent, step.depth),
                guide=_made_by(tx, session, state.guide, step.depth),
            )
    last = tx.log.last_step(session)
    raise BranchError(f"s{at} is on no branch of this session, whose last step is s{last}; name a step of its log")


def _made_by(tx: Reading, session: int, newest: int, depth: int) -> int:
    """The newest of a chain of decisions that was made when the path had at most a depth: plans and extractions, or refactorings."""
    while newest:
        event = tx.forest.event(session, newest)
        tip = None if event is None else tx.log.step(session, event.state.tip)
        if event is None or tip is None or tip.depth <= depth:
            break
        newest = int(json.loads(event.json)["was"])
    return newest


def _cover_by(tx: Reading, session: int, cover: int, depth: int) -> int:
    """The newest cell of a cover whose tile ends at a depth or before it."""
    while cover:
        row = tx.cover.cell(session, cover)
        last = tx.log.step(session, tx.cover.tile_end(session, row[1]) or 0)
        if last is None or last.depth <= depth:
            break
        cover = row[0]
    return cover
