"""Reads what the other branches of a session hold: the turns that are on one of them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.log.lines import AI, Line, text_of
from ctxfold.log.records import Step
from ctxfold.session.history.commit import state_of
from ctxfold.session.history.load import lines_at
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import HeadRow, Path, State, StoredRecord
from ctxfold.text import select
from ctxfold.tokens import count, head
from ctxfold.workspace.forest import NOWHERE, BranchSummary, Elsewhere, ForestView, Turn
from ctxfold.workspace.workspace import spans

__all__ = ["OtherBranches"]

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
