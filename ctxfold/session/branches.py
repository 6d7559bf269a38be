"""Moves, the tree, what other branches hold, their ranking."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from ctxfold.decisions.branch import BranchMove
from ctxfold.errors import BranchError, SessionNameError
from ctxfold.log import Step
from ctxfold.log.lines import AI, Line, text_of
from ctxfold.select.choose import select
from ctxfold.session.commits import GENESIS, Happened, advance, state_of
from ctxfold.session.load import lines_at, tiles_of
from ctxfold.store.rows import HeadRow, Path, Reading, State, StoredRecord, TopicRow, Writing
from ctxfold.tokens import count, head
from ctxfold.workspace import NOWHERE, BranchSummary, Elsewhere, ForestView, Turn, spans

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
    for branch in (here, *(other for other in tx.forest.heads(session) if other.id != here.id)):
        state = state_of(tx, session, branch)
        if step is not None and step.depth <= dict(tx.log.path(session, state.tip)).get(step.lane, 0):
            return branch, replace(
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


TURNS = 200
"""Steps of a branch that are read turn by turn, the newest."""
_HEARD = 3_000
"""Characters of a reply that are read."""
_GIST = 32
"""o200k tokens of a turn's outcome."""
_NOTES = 3
"""Notes that stand for a turn, the newest."""
_ROW = 20
"""o200k tokens of a row that stands for a turn without a reply."""

_Stretch = tuple[int, int, int]
"""A piece of a lane: the lane, and the depths it covers, both ends included."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A branch as it was read, and what it was read from."""

    revision: bytes
    stretches: tuple[_Stretch, ...]
    summary: BranchSummary


class OtherBranches:
    """What a handle knows of the branches it does not stand on."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._key: tuple[object, ...] = ()
        self._found = NOWHERE
        self._known: dict[int, _Read] = {}

    def of(self, tx: Reading, branch: int, state: State) -> Elsewhere:
        """What stands beside a branch."""
        heads = tx.forest.heads(self._session)
        if len(heads) == 1:
            return NOWHERE
        key = (branch, *((head.id, head.name, head.topic, 0 if head.id == branch else head.seq) for head in heads))
        if key != self._key:
            self._found = self._read(tx, heads, branch, state)
            self._key = key
        return self._found

    def forget(self) -> None:
        """Look anew at the next call. A branch whose revision is the same is not read again: redaction changes revisions."""
        self._key, self._found = (), NOWHERE

    def _read(self, tx: Reading, heads: Sequence[HeadRow], branch: int, state: State) -> Elsewhere:
        topics = {topic.id: topic.name for topic in tx.forest.topics(self._session)}
        here = next(head for head in heads if head.id == branch)
        told = dict(tx.log.path(self._session, state.tip))
        others = sorted(heads, key=lambda head: (head.topic != here.topic, head.topic, head.id))
        found = [self._summary(tx, head, topics[head.topic], told) for head in others if head.id != branch]
        return Elsewhere(here.name, topics[here.topic], tuple(found))

    def _summary(self, tx: Reading, head: HeadRow, topic: str, told: dict[int, int]) -> BranchSummary:
        """A branch's own steps: what neither the active path nor a branch before it has told. `told` takes them in."""
        state = state_of(tx, self._session, head)
        path = tx.log.path(self._session, state.tip)
        begins = [*(depth for _, depth in path[1:]), 0][: len(path)]
        stretches = tuple(
            (lane, max(told.get(lane, 0), begin) + 1, depth)
            for (lane, depth), begin in zip(path, begins, strict=True)
            if depth > max(told.get(lane, 0), begin)
        )
        told.update({lane: depth for lane, _, depth in stretches})
        known = self._known.get(head.id)
        if known is None or (known.revision, known.stretches) != (state.revision, stretches):
            low = _depths(stretches)
            found = _summary(tx, self._session, (head, topic, state), path, low)
            known = self._known[head.id] = _Read(state.revision, stretches, found)
        return replace(known.summary, branch=head.name, topic=topic)

    def forest(self, tx: Reading, branch: int, state: State) -> ForestView:
        """The whole forest as a decider is shown it."""
        found = self.of(tx, branch, state)
        if not found.branch:
            here = next(head for head in tx.forest.heads(self._session) if head.id == branch)
            names = {topic.id: topic.name for topic in tx.forest.topics(self._session)}
            found = Elsewhere(here.name, names[here.topic])
        path = tx.log.path(self._session, state.tip)
        tip = tx.log.step(self._session, state.tip) if state.tip else None
        turns = () if tip is None else _turns(tx, self._session, path, max(1, tip.depth - TURNS), tip.depth)
        return ForestView(turns, found)


def _depths(stretches: Sequence[_Stretch]) -> tuple[int, int]:
    """The depths a branch's own steps cover. They are the end of its path: what is shared stands before them."""
    if not stretches:
        return 1, 0
    return min(low for _, low, _ in stretches), max(high for _, _, high in stretches)


def _summary(
    tx: Reading, session: int, of: tuple[HeadRow, str, State], path: Path, depths: tuple[int, int]
) -> BranchSummary:
    head, topic, state = of
    low, high = depths
    if high < low:
        return BranchSummary(head.name, topic, state.tip, (), "", state.seq)
    first = max(low, high - TURNS + 1)
    earlier = tx.log.along(session, path, low, first - 1) if first > low else []
    before = tx.log.along(session, path, low - 1, low - 1) if low > 1 else []
    return BranchSummary(
        head.name,
        topic,
        before[0].n if before else 0,
        _turns(tx, session, path, first, high),
        spans([step.n for step in earlier]),
        state.seq,
    )


def _turns(tx: Reading, session: int, path: Path, low: int, high: int) -> tuple[Turn, ...]:
    """The turns of a stretch of a path."""
    steps = tx.log.along(session, path, low, high)
    by_step: dict[int, list[StoredRecord]] = {step.n: [] for step in steps}
    for record in tx.log.records(session, list(by_step)):
        if record.at in by_step:  # a late result that stands on another branch is nothing of this one
            by_step[record.step].append(record)
    made: list[Turn] = []
    group: list[Step] = []
    for step in steps:
        if group and any(record.kind == "user" for record in by_step[step.n]):
            made.append(_turn(tx, group, by_step))
            group = []
        group.append(step)
    return (*made, _turn(tx, group, by_step)) if group else tuple(made)


def _turn(tx: Reading, steps: Sequence[Step], by_step: dict[int, list[StoredRecord]]) -> Turn:
    records = [record for step in steps for record in by_step[step.n]]
    words = [record for record in records if record.kind == "user"]
    spoken = [tx.log.text(record.entry)[:_HEARD] for record in records if record.kind == "assistant"]
    said = "\n".join(tx.log.text(record.entry) for record in words)
    ref = f"s{words[0].step}.{words[0].k}" if words else f"s{steps[0].n}"
    ends = [record for record in records if record.kind in ("assistant", "result", "note")]
    gist = _gist(spoken[-1], said) if ends and ends[-1].kind == "assistant" else _rows(tx, records)
    return Turn(tuple(step.n for step in steps), said, ref, "\n".join(spoken)[:_HEARD], gist)


def _gist(reply: str, said: str) -> str:
    """What a reply came to, in its own words: the sentences that bear on what was asked, in their order."""
    if len(reply) <= 4 * _GIST and count(reply) <= _GIST:
        return f"{AI} {' '.join(reply.split())}"
    kept = " … ".join(" ".join(span.of(reply).split()) for span in select(reply, said, _GIST))
    return f"{AI} {kept} …"


def _rows(tx: Reading, records: Sequence[StoredRecord]) -> str:
    """What stands for a turn that no reply closed, in compact forms: what was concluded, else its last call and the first rows it got."""
    found = [record for record in records if record.kind == "note"][-_NOTES:]
    chosen = found or [record for record in records[-8:] if record.kind != "user"]
    lines: list[Line] = [line for record in chosen for line in lines_at(tx, record)]
    if found:
        return text_of(_clip(line, 2 * _GIST) for line in lines)
    calls = [line for line in lines if line.kind in ("call", "say")][-1:]
    got = [line for line in lines if line.kind in ("data", "text")][:2]
    return text_of(_clip(line, _ROW) for line in (*calls, *got))


def _clip(line: Line, tokens: int) -> Line:
    """A line cut to its beginning, a document flattened to one line; itself when it is short enough already."""
    if line.tokens <= tokens + 8:
        return line
    body = line.text.partition("\n")[2].rpartition("\n")[0] if line.text.startswith("<<") else ""
    text = f"< {' '.join(body[: tokens * 40].split())}" if body else line.text
    return line.reworded(f"{head(text, tokens)} […{line.tokens} tok {line.ref}]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded stretch of a branch: its block's address, its steps, and what it costs in a view and raw (o200k tokens)."""

    block: str
    steps: str
    tokens: int
    raw: int


@dataclass(frozen=True, slots=True)
class BranchInfo:
    """A branch of a topic.

    Attributes:
        name: its name.
        tip: the last step of its path, 0 before the first.
        steps: how many steps lead there.
        tokens: what they cost raw, in o200k tokens.
        forked_at: the last step it shares with an older branch of its topic, 0 for none.
        current: whether the handle stands on it.
        forked_from: the older branch it shares that step with; empty for none.
        own: its steps that stand on no older branch, as addresses; empty for none.
        shown: what its path costs in a view with nothing shrunk for a budget.
        folded: its folded stretches, in path order.
    """

    name: str
    tip: int
    steps: int
    tokens: int
    forked_at: int
    current: bool
    forked_from: str = ""
    own: str = ""
    shown: int = 0
    folded: tuple[Folded, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A root of the forest with its branches, oldest first."""

    name: str
    branches: tuple[BranchInfo, ...]


def tree(tx: Reading, session: int, current: int) -> list[Topic]:
    """The topics of a session, oldest first; `current` is the branch the handle stands on."""
    made: dict[int, list[BranchInfo]] = {topic.id: [] for topic in tx.forest.topics(session)}
    paths: dict[int, list[tuple[str, dict[int, int]]]] = {}
    for branch in tx.forest.heads(session):
        state = state_of(tx, session, branch)
        path = tx.log.path(session, state.tip)
        older = paths.setdefault(branch.topic, [])
        info = _branch(tx, session, (branch, state), path, older)
        made.setdefault(branch.topic, []).append(replace(info, current=branch.id == current))
        older.append((branch.name, dict(path)))
    return [Topic(topic.name, tuple(made[topic.id])) for topic in tx.forest.topics(session)]


def _branch(
    tx: Reading, session: int, of: tuple[HeadRow, State], path: Path, older: Sequence[tuple[str, dict[int, int]]]
) -> BranchInfo:
    head, state = of
    tip = tx.log.step(session, state.tip) if state.tip else None
    if tip is None:
        return BranchInfo(head.name, 0, 0, 0, 0, False)
    shared = [(_shared(dict(path), other), name) for name, other in older]
    (depth, lane), origin = max(shared, key=lambda each: each[0], default=((0, 0), ""))
    fork = tx.log.along(session, ((lane, depth),), depth, depth) if depth else []
    own = tx.log.along(session, path, depth + 1, tip.depth)
    folded, saved = _folded(tx, session, state)
    return BranchInfo(
        head.name,
        state.tip,
        tip.depth,
        tip.raw_upto,
        fork[0].n if fork else 0,
        False,
        origin if fork else "",
        spans([step.n for step in own]),
        tip.upto - saved,
        folded,
    )


def _shared(path: dict[int, int], other: dict[int, int]) -> tuple[int, int]:
    """How deep two paths are one, and in which lane; (0, 0) for not at all."""
    return max(((min(depth, other[lane]), lane) for lane, depth in path.items() if lane in other), default=(0, 0))


def _folded(tx: Reading, session: int, state: State) -> tuple[tuple[Folded, ...], int]:
    """The tiles of a cover in path order, and the tokens they take off the view."""
    found: list[Folded] = []
    saved = 0
    for tile in tiles_of(tx, session, state.cover):
        ends = [step for step in (tx.log.step(session, tile.first), tx.log.step(session, tile.last)) if step]
        saved += (ends[-1].upto - ends[0].upto + ends[0].tokens if ends else 0) - tile.tokens
        found.append(Folded(tile.id, spans(tile.steps), tile.tokens, tile.raw))
    return tuple(found), saved
