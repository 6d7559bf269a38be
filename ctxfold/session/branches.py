"""The forest: moves between branches, the tree of topics, and what other branches hold."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxfold.errors import BranchError, InputError, SessionNameError
from ctxfold.log import Step, spans
from ctxfold.log.lines import AI, Line, text_of
from ctxfold.select.choose import find_excerpts
from ctxfold.session.commits import GENESIS, Happened, advance, fit_cover, rename_branch, state_of
from ctxfold.session.load import lines_at, load_tiles
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import HeadRow, Path, State, StoredRecord, TopicRow
from ctxfold.text.words import rank_alike
from ctxfold.tokens import count, head
from ctxfold.workspace import Action, BranchSummary, By, Elsewhere, ForestView, Turn

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

Wish = Literal["auto", "continue", "create", "switch", "new_topic", "rename"]
"""The actions of `Session.branch`."""


@dataclass(frozen=True, slots=True)
class RankedBranch:
    """A branch and its likeness to a message: 0 for no word in common, at most 1. `said` is its last message."""

    name: str
    topic: str
    score: float
    said: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """The result of a move.

    Attributes:
        branch: the branch the handle is on.
        topic: its topic.
        tip: the last step of its path, 0 without one.
        action: the move that was made.
        reason: the decider's reason.
        ranked: for `auto`, the branches that hold anything, those most like the message first; among equals the
            current branch, then the one left last.
    """

    branch: str
    topic: str
    tip: int
    action: Action = "continue"
    reason: str = ""
    ranked: tuple[RankedBranch, ...] = ()


def check_name(name: object, what: str = "session") -> str:
    """Return a valid name. Raises SessionNameError: not a name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = repr(name if len(name) <= 40 else name[:37] + "...") if isinstance(name, str) else type(name).__name__
        raise SessionNameError(
            f"{shown} cannot name a {what}; use 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit"
        )
    return name


def check_wish(action: str, query: str | None, at: int | None, to: str | None) -> None:
    """Check the arguments of a move. Raises InputError: an argument that it ignores."""
    if action != "auto" and query is not None:
        raise InputError(f"{action} takes no query; leave it out, or use auto")
    if action != "create" and at is not None:
        raise InputError(f"{action} takes no step; leave it out, or use create, which forks after that step")
    if action in {"auto", "continue"} and to is not None:
        raise InputError(f"{action} takes no name; use switch for a branch that exists, create for a new one")


def move(
    tx: Writing, session: int, current: HeadRow, action: Action, at: int | None, to: str | None, by: By
) -> tuple[HeadRow, State]:
    """Apply a move made on the branch `current`. Returns the branch it leads to and that branch's revision.

    `at`: for `create`, the last step that the new branch keeps, None for the tip; `to`: the branch's name, None lets
    one be made up.

    Raises:
        BranchError: a name that is taken or unknown, or a step on no branch.
    """
    heads, state = tx.forest.heads(session), state_of(tx, session, current)
    match action:
        case "continue":
            return current, state
        case "rename":
            return (current, state) if to == current.name else _rename(tx, session, current, state, to, by)
        case "switch":
            target = _find_branch(heads, to)
            if target.id == current.id:
                return current, state
            state = state_of(tx, session, target)
        case "create":
            origin, state = truncate(tx, session, current, at)
            name = _choose_name(heads, to, "branch")
            target = HeadRow(len(heads) + 1, name, origin.topic, state.seq, time.time())
            tx.forest.add_head(session, target)
        case _:
            state = replace(GENESIS, notes=state.notes)
            topic = TopicRow(len(tx.forest.topics(session)) + 1, _choose_name(heads, to, "topic"))
            target = HeadRow(len(heads) + 1, topic.name, topic.id, 0, time.time())
            tx.forest.add_topic(session, topic)
            tx.forest.add_head(session, target)
    payload: dict[str, Any] = {"action": action, "from": current.id, "to": target.id, "tip": state.tip}
    payload |= {"name": target.name} | ({"topic": target.topic} if action == "new_topic" else {})
    happened = Happened("moved", payload, (), by.decider, by.reason or action)
    after = advance(tx, session, target, state, state, happened)
    tx.sessions.change(session, "current", target.id)
    return target, after


def _find_branch(heads: Sequence[HeadRow], name: str | None) -> HeadRow:
    match = next((branch for branch in heads if branch.name == name), None)
    if match is not None:
        return match
    fault = "a branch's name is missing; give it in `to`" if name is None else f"no branch {name!r}"
    raise BranchError(f"{fault}; the branches are {', '.join(head.name for head in heads)}")


def _choose_name(heads: Sequence[HeadRow], wanted: str | None, kind: str) -> str:
    taken = {head.name for head in heads}
    if wanted is None:
        return next(name for number in range(2, len(heads) + 3) if (name := f"{kind}-{number}") not in taken)
    if check_name(wanted, "branch") in taken:
        raise BranchError(f"a branch {wanted!r} is there already; switch to it or choose another name")
    return wanted


def _rename(tx: Writing, session: int, current: HeadRow, state: State, to: str | None, by: By) -> tuple[HeadRow, State]:
    if to is None:
        raise BranchError("a new name is missing; give it in `to`")
    name = _choose_name(tx.forest.heads(session), to, "branch")
    rename_branch(tx, session, current, name)
    payload = {"branch": current.id, "name": name, "was_name": current.name}
    after = advance(tx, session, current, state, state, Happened("renamed", payload, (), by.decider, "rename"))
    return replace(current, name=name, seq=after.seq), after


def truncate(tx: Reading, session: int, current: HeadRow, at: int | None) -> tuple[HeadRow, State]:
    """Return the branch that a step lies on, this one first, and its revision with the path ended at that step.

    The cover keeps the tiles that end by then. Raises BranchError: the step is on no branch.
    """
    if at is None:
        return current, state_of(tx, session, current)
    step = tx.log.step(session, at)
    for branch in (current, *(other for other in tx.forest.heads(session) if other.id != current.id)):
        state = state_of(tx, session, branch)
        if step is not None and step.depth <= dict(tx.log.path(session, state.tip)).get(step.lane, 0):
            cover = fit_cover(tx, session, state, at)
            intent, guide = (_find_event(tx, session, newest, step.depth) for newest in (state.intent, state.guide))
            return branch, replace(state, tip=at, cover=cover, intent=intent, guide=guide)
    last = tx.log.last_step(session)
    raise BranchError(f"s{at} is on no branch of this session, whose last step is s{last}; name a step of its log")


def _find_event(tx: Reading, session: int, newest: int, depth: int) -> int:
    """The newest event of a chain of plans or refactorings that was made by a depth of the path."""
    while newest:
        event = tx.forest.event(session, newest)
        tip = None if event is None else tx.log.step(session, event.state.tip)
        if event is None or tip is None or tip.depth <= depth:
            break
        newest = int(json.loads(event.json)["was"])
    return newest


def rank_branches(forest: ForestView, message: str) -> tuple[RankedBranch, ...]:
    """Return the branches that hold anything, those most like a message first."""
    elsewhere = forest.elsewhere
    others = sorted(elsewhere.branches, key=lambda branch: -branch.visited)
    branches = [(elsewhere.branch, elsewhere.topic, forest.path)]
    branches += [(branch.branch, branch.topic, branch.turns) for branch in others]
    texts = ["\n".join(f"{turn.said}\n{turn.reply}" for turn in turns) for _, _, turns in branches]
    ranked = [
        RankedBranch(name, topic, round(score, 4), _last_message(turns))
        for (name, topic, turns), score in zip(branches, rank_alike(message, texts), strict=True)
        if turns
    ]
    return tuple(sorted(ranked, key=lambda branch: -branch.score))


def _last_message(turns: Sequence[Turn]) -> str:
    return next((" ".join(turn.said.split()) for turn in reversed(turns) if turn.said), "")


TURNS = 200
"""Steps of a branch that are read turn by turn, the newest."""
_REPLY = 3_000
"""Characters of a reply that are read."""
_GIST = 32
"""o200k tokens of a turn's outcome."""
_ROW = 20
"""o200k tokens of one line in the outcome of a turn that no reply closed."""
_NOTES = 3
"""Notes of a turn that are shown, the newest."""


class OtherBranches:
    """Reads the branches that a handle is not on. What was read of a revision is kept: it never changes."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._read: dict[tuple[int, bytes, int], BranchSummary] = {}

    def of(self, tx: Reading, branch: int, state: State) -> Elsewhere:
        """Return the turns of all branches other than this one."""
        heads = tx.forest.heads(self._session)
        topics = {topic.id: topic.name for topic in tx.forest.topics(self._session)}
        current = next(head for head in heads if head.id == branch)
        shown = dict(tx.log.path(self._session, state.tip))
        others = sorted(heads, key=lambda head: (head.topic != current.topic, head.topic, head.id))
        summaries = [self._summarise(tx, head, topics[head.topic], shown) for head in others if head.id != branch]
        return Elsewhere(current.name, topics[current.topic], tuple(summaries))

    def forest(self, tx: Reading, branch: int, state: State) -> ForestView:
        """Return the whole forest, as a decider is shown it."""
        path = tx.log.path(self._session, state.tip)
        depth = path[0][1] if path else 0
        turns = _read_turns(tx, self._session, path, max(1, depth - TURNS), depth)
        return ForestView(turns, self.of(tx, branch, state))

    def _summarise(self, tx: Reading, head: HeadRow, topic: str, shown: dict[int, int]) -> BranchSummary:
        """Summarise the steps of a branch that are on no path in `shown` (a depth for each lane); add them to it."""
        state = state_of(tx, self._session, head)
        path = tx.log.path(self._session, state.tip)
        shared = _count_shared(path, shown)
        shown.update({lane: max(depth, shown.get(lane, 0)) for lane, depth in path})
        key = (head.id, state.revision, shared)
        if key not in self._read:
            depth = path[0][1] if path else 0
            first = max(shared, depth - TURNS) + 1
            fork = tx.log.along(self._session, path, shared, shared) if shared else []
            earlier = tx.log.along(self._session, path, shared + 1, first - 1)
            turns = _read_turns(tx, self._session, path, first, depth)
            forked_at = fork[0].n if fork else 0
            self._read[key] = BranchSummary("", "", forked_at, turns, spans([step.n for step in earlier]), state.seq)
        return replace(self._read[key], branch=head.name, topic=topic)


def _count_shared(path: Path, shown: Mapping[int, int]) -> int:
    """Count the steps of a path that another one shares, which is given as a depth for each lane."""
    return max((min(depth, shown.get(lane, 0)) for lane, depth in path), default=0)


def _read_turns(tx: Reading, session: int, path: Path, low: int, high: int) -> tuple[Turn, ...]:
    """The turns between two depths of a path."""
    steps = tx.log.along(session, path, low, high)
    by_step: dict[int, list[StoredRecord]] = {step.n: [] for step in steps}
    for record in tx.log.records(session, list(by_step)):
        if record.at in by_step:  # a late result may be shown on another branch
            by_step[record.step].append(record)
    groups: list[list[Step]] = []
    for step in steps:
        if not groups or any(record.kind == "user" for record in by_step[step.n]):
            groups.append([])
        groups[-1].append(step)
    return tuple(_read_turn(tx, group, [record for step in group for record in by_step[step.n]]) for group in groups)


def _read_turn(tx: Reading, steps: Sequence[Step], records: Sequence[StoredRecord]) -> Turn:
    words = [record for record in records if record.kind == "user"]
    replies = [tx.log.text(record.entry)[:_REPLY] for record in records if record.kind == "assistant"]
    said = "\n".join(tx.log.text(record.entry) for record in words)
    ref = f"s{words[0].step}.{words[0].k}" if words else f"s{steps[0].n}"
    ends = [record.kind for record in records if record.kind in ("assistant", "result", "note")]
    gist = _shorten_reply(replies[-1], said) if ends[-1:] == ["assistant"] else _summarise_open(tx, records)
    return Turn(tuple(step.n for step in steps), said, ref, "\n".join(replies)[:_REPLY], gist)


def _shorten_reply(reply: str, said: str) -> str:
    """The sentences of a reply that bear on the message, in their order."""
    if len(reply) <= 4 * _GIST and count(reply) <= _GIST:
        return f"{AI} {' '.join(reply.split())}"
    excerpts = (" ".join(span.of(reply).split()) for span in find_excerpts(reply, said, _GIST))
    return f"{AI} {' … '.join(excerpts)} …"


def _summarise_open(tx: Reading, records: Sequence[StoredRecord]) -> str:
    """Summarise a turn that no reply closed: its newest notes, else its last call and the first rows it got."""
    notes = [record for record in records if record.kind == "note"][-_NOTES:]
    shown = notes or [record for record in records[-8:] if record.kind != "user"]
    lines = [line for record in shown for line in lines_at(tx, record)]
    if not notes:
        calls = [line for line in lines if line.kind in ("call", "say")][-1:]
        lines = [*calls, *[line for line in lines if line.kind in ("data", "text")][:2]]
    return text_of(_clip(line, 2 * _GIST if notes else _ROW) for line in lines)


def _clip(line: Line, tokens: int) -> Line:
    """Cut a long line to its beginning; a document becomes one line."""
    if line.tokens <= tokens + 8:
        return line
    body = line.text.partition("\n")[2].rpartition("\n")[0] if line.text.startswith("<<") else ""
    text = f"< {' '.join(body[: tokens * 40].split())}" if body else line.text
    return line.reword(f"{head(text, tokens)} […{line.tokens} tok {line.ref}]")


@dataclass(frozen=True, slots=True)
class FoldedStretch:
    """A tile of a branch: its ref, its steps, and its cost in a view and raw (o200k tokens)."""

    block: str
    steps: str
    tokens: int
    raw: int


@dataclass(frozen=True, slots=True)
class BranchInfo:
    """A branch of a topic.

    Attributes:
        tip: the last step of its path, 0 without one.
        steps: the number of steps of its path.
        tokens: their raw cost in o200k tokens.
        forked_at: the last step it shares with an older branch of its topic, 0 without one.
        current: whether the handle is on it.
        forked_from: the older branch that it shares that step with; empty without one.
        own: its steps that are on no older branch, as refs.
        shown: the cost of its path in a view without a budget.
        folded: its tiles, in path order.
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
    folded: tuple[FoldedStretch, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A root of the forest with its branches, oldest first."""

    name: str
    branches: tuple[BranchInfo, ...]


def read_tree(tx: Reading, session: int, current: int) -> list[Topic]:
    """Return the topics of a session, oldest first. `current` is the branch that the handle is on."""
    topics = tx.forest.topics(session)
    branches: dict[int, list[BranchInfo]] = {topic.id: [] for topic in topics}
    paths: dict[int, list[tuple[str, dict[int, int]]]] = {}
    for branch in tx.forest.heads(session):
        state = state_of(tx, session, branch)
        older = paths.setdefault(branch.topic, [])
        branches[branch.topic].append(_describe_branch(tx, session, branch, state, older, branch.id == current))
        older.append((branch.name, dict(tx.log.path(session, state.tip))))
    return [Topic(topic.name, tuple(branches[topic.id])) for topic in topics]


def _describe_branch(
    tx: Reading, session: int, head: HeadRow, state: State, older: Sequence[tuple[str, dict[int, int]]], current: bool
) -> BranchInfo:
    tip = tx.log.step(session, state.tip) if state.tip else None
    if tip is None:
        return BranchInfo(head.name, 0, 0, 0, 0, current)
    path = tx.log.path(session, state.tip)
    depth, origin = max(
        ((_count_shared(path, other), name) for name, other in older), key=lambda each: each[0], default=(0, "")
    )
    fork = tx.log.along(session, path, depth, depth) if depth else []
    forked_at, origin = (fork[0].n, origin) if fork else (0, "")
    own = spans([step.n for step in tx.log.along(session, path, depth + 1, tip.depth)])
    folded: list[FoldedStretch] = []
    saved = 0
    for tile in load_tiles(tx, session, state.cover):
        ends = [step for step in (tx.log.step(session, tile.first), tx.log.step(session, tile.last)) if step]
        saved += (ends[-1].upto - ends[0].upto + ends[0].tokens if ends else 0) - tile.tokens
        folded.append(FoldedStretch(tile.id, spans(tile.steps), tile.tokens, tile.raw))
    shown = tip.upto - saved
    return BranchInfo(head.name, tip.n, tip.depth, tip.raw_upto, forked_at, current, origin, own, shown, tuple(folded))
