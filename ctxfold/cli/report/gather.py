"""Reads what a report shows from the store: every step on the branch it is the own of, every block, and views of the past. It writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ctxfold.log.records import Step
from ctxfold.session.handle import Handle
from ctxfold.session.history.commit import head_of, state_of
from ctxfold.session.history.intents import intent_of
from ctxfold.session.history.load import goals, load
from ctxfold.session.history.tiles import read_tile
from ctxfold.session.history.tree import Topic, tree
from ctxfold.store.protocol import Reading, Store
from ctxfold.store.values import EventRow, HeadRow, State, StoredRecord
from ctxfold.tokens import Budget
from ctxfold.view.render import render
from ctxfold.workspace.workspace import spans

__all__ = ["Chapter", "Curve", "Picture", "Piece", "Report", "StepShown", "TileShown", "gathered"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One record: its address, what it is, its text, whether it is data of a tool or page, and how many characters were left out."""

    ref: str
    what: str
    text: str
    untrusted: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step: its number, a line that tells of it, its raw cost (o200k tokens), its records, the blocks it is folded in, and a picture as a data URL."""

    n: int
    title: str
    raw: int
    pieces: tuple[Piece, ...]
    blocks: tuple[str, ...] = ()
    picture: str = ""


@dataclass(frozen=True, slots=True)
class TileShown:
    """A block: its address, the steps it stands for (as addresses and as numbers), what stands in the view, and what it costs in view and raw."""

    block: str
    where: str
    steps: tuple[int, ...]
    text: str
    tokens: int
    raw: int
    untrusted: bool


@dataclass(frozen=True, slots=True)
class Chapter:
    """The steps and blocks that are a branch's own."""

    topic: str
    branch: str
    current: bool
    forked_at: int
    steps: tuple[StepShown, ...]
    tiles: tuple[TileShown, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """What was on record and what a view cost, step by step: parallel numbers, in o200k tokens."""

    steps: tuple[int, ...]
    whole: tuple[int, ...]
    view: tuple[int, ...]

    @property
    def highest(self) -> int:
        """The largest number in it, at least 1."""
        return max((*self.whole, *self.view, 1))

    @property
    def widest(self) -> int:
        """The most a view cost, at least 1."""
        return max((*self.view, 1))

    def points(self, line: tuple[int, ...], top: int) -> str:
        """A line of it as the points of an SVG polyline, in a drawing of 1000 by 300.

        Args:
            line: `whole` or `view`.
            top: the number that touches the top.
        """
        last = max(len(line) - 1, 1)
        return " ".join(f"{at * 1000 / last:.1f},{300 - value * 300 / top:.1f}" for at, value in enumerate(line))


@dataclass(frozen=True, slots=True)
class Report:
    """A session as a page shows it; `view` is what its view costs now at that budget."""

    name: str
    goal: str
    budget: int
    view: int
    topics: tuple[Topic, ...]
    curve: Curve
    chapters: tuple[Chapter, ...]

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return sum(len(chapter.steps) for chapter in self.chapters)

    @property
    def raw(self) -> int:
        """What all of them cost raw, in o200k tokens."""
        return sum(step.raw for chapter in self.chapters for step in chapter.steps)


Picture = Callable[[int], str]
"""The picture of a step as a data URL; empty for none."""

LONGEST = 30_000
"""Characters of one record that stand in a report; the rest is a recall away."""
POINTS = 100
"""Views of the past that are rendered for the curve, evenly spread."""
_TITLE = 110


def gathered(tx: Reading, store: Store, session: tuple[int, str, int], budget: int, picture: Picture) -> Report:
    """All that a report shows.

    Args:
        tx: an open transaction.
        store: where it was opened.
        session: the session's row id, its name and the branch it was last on.
        budget: tokens of the views whose cost is drawn.
        picture: where a step's picture comes from.

    Raises:
        BudgetError: a budget below the least.
    """
    number, name, current = session
    heads = tx.forest.heads(number)
    topics = {topic.id: topic.name for topic in tx.forest.topics(number)}
    told: set[int] = set()
    chapters = tuple(
        _chapter(tx, number, head, (topics[head.topic], head.id == current), told, picture) for head in heads
    )
    told_goals = goals(tx, number, state_of(tx, number, head_of(tx, number, current)))
    now = render(Handle(store, number, current).shown(tx, budget), Budget.of(budget)).tokens
    goal = told_goals[-1] if told_goals else ""
    return Report(name, goal, budget, now, tuple(tree(tx, number, current)), _curve(tx, number, budget), chapters)


def _chapter(
    tx: Reading, session: int, head: HeadRow, named: tuple[str, bool], told: set[int], picture: Picture
) -> Chapter:
    """A branch's own steps: those on no older one. `told` takes them in."""
    state = state_of(tx, session, head)
    tip = tx.log.step(session, state.tip) if state.tip else None
    path = tx.log.along(session, tx.log.path(session, state.tip), 1, tip.depth) if tip else []
    own = [step for step in path if step.n not in told]
    told.update(step.n for step in own)
    shared = [step.n for step in path[: len(path) - len(own)]]
    tiles = _tiles(tx, session, state)
    inside: dict[int, list[str]] = {}
    for tile in tiles:
        for n in tile.steps:
            inside.setdefault(n, []).append(tile.block)
    steps = _steps(tx, session, own, inside, picture)
    return Chapter(named[0], head.name, named[1], shared[-1] if shared else 0, steps, tiles)


def _tiles(tx: Reading, session: int, state: State) -> tuple[TileShown, ...]:
    found: list[TileShown] = []
    cell = state.cover
    while cell and (row := tx.cover.cell(session, cell)) is not None:
        tile = read_tile(tx, session, row[1])
        found.append(
            TileShown(tile.id, spans(tile.steps), tile.steps, tile.text, tile.tokens, tile.raw, tile.untrusted)
        )
        cell = row[0]
    return tuple(found[::-1])


def _steps(
    tx: Reading, session: int, own: Sequence[Step], inside: dict[int, list[str]], picture: Picture
) -> tuple[StepShown, ...]:
    records: dict[int, list[StoredRecord]] = {step.n: [] for step in own}
    for record in tx.log.records(session, list(records)):
        records[record.step].append(record)
    made: list[StepShown] = []
    for step in own:
        pieces = tuple(_piece(tx, record) for record in records[step.n])
        raw = step.raw
        made.append(StepShown(step.n, _title(pieces), raw, pieces, tuple(inside.get(step.n, ())), picture(step.n)))
    return tuple(made)


def _piece(tx: Reading, record: StoredRecord) -> Piece:
    text = tx.log.text(record.entry)
    what = record.kind if record.kind != "result" else f"result · {record.origin}"
    return Piece(
        f"s{record.step}.{record.k}",
        what,
        text[:LONGEST],
        record.origin in ("tool", "page"),
        max(len(text) - LONGEST, 0),
    )


def _title(pieces: Sequence[Piece]) -> str:
    """A line that tells of a step: what the user said, else what was called, else what the assistant said."""
    by_kind = {piece.what: piece.text for piece in reversed(pieces)}
    if "user" in by_kind:
        return _flat(by_kind["user"])
    if "call" in by_kind:
        return _called(by_kind["call"])
    return _flat(next(iter(piece.text for piece in pieces), ""))


def _called(text: str) -> str:
    try:
        call = json.loads(text)
    except ValueError:
        return _flat(text)
    args = call.get("args") or {}
    said = " ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else str(args)
    return _flat(f"{call.get('name', 'call')} {said}")


def _flat(text: str) -> str:
    line = " ".join(text[:2_000].split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"


def _curve(tx: Reading, session: int, budget: int) -> Curve:
    """At evenly spread steps of the log: what all of it cost raw until then, and what the view of the branch at work cost."""
    marks: dict[int, EventRow] = {}
    for event in tx.forest.events(session):
        if event.state.tip:
            marks[max(event.state.tip, max(marks, default=0))] = event
    numbers = sorted(marks)
    wanted = (
        numbers
        if len(numbers) <= POINTS
        else [numbers[at * (len(numbers) - 1) // (POINTS - 1)] for at in range(POINTS)]
    )
    raw = {step.n: step.raw for step in tx.log.steps(session, range(1, tx.log.last_step(session) + 1))}
    sums: dict[int, int] = {}
    total = 0
    for n in sorted(raw):
        total += raw[n]
        sums[n] = total
    views = [_view(tx, session, marks[n].state, budget) for n in wanted]
    return Curve(tuple(wanted), tuple(sums.get(n, total) for n in wanted), tuple(views))


def _view(tx: Reading, session: int, state: State, budget: int) -> int:
    """What the view of a revision's path costs, with its intent."""
    workspace = replace(load(tx, session, state, 4 * budget), intent=intent_of(tx, session, state.intent))
    return render(workspace, Budget.of(budget)).tokens
