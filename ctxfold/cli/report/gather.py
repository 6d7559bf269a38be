"""Collects what a report shows: every step, every tile, and what the views of the past cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ctxfold.log.records import Step
from ctxfold.session.handle import Handle
from ctxfold.session.history.commit import head_of, state_of
from ctxfold.session.history.intents import intent_of
from ctxfold.session.history.load import goals, load
from ctxfold.session.history.telling import sum_up
from ctxfold.session.history.tiles import tiles_of
from ctxfold.session.history.tree import Topic, tree
from ctxfold.store.sqlite import Reading, Store
from ctxfold.store.values import EventRow, HeadRow, State, StoredRecord
from ctxfold.tokens import Budget
from ctxfold.view.render import render
from ctxfold.workspace.workspace import Tile

__all__ = ["Chapter", "Curve", "Picture", "Piece", "Report", "StepShown", "gather_report"]


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
    """A step: its number, a line that sums it up, its raw cost (o200k tokens), its records, the blocks it is folded in, and a picture as a data URL."""

    n: int
    title: str
    raw: int
    pieces: tuple[Piece, ...]
    blocks: tuple[str, ...] = ()
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """The steps and blocks that are a branch's own."""

    topic: str
    branch: str
    current: bool
    forked_at: int
    steps: tuple[StepShown, ...]
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """What was on record and what a view cost, step by step: parallel numbers, in o200k tokens."""

    steps: tuple[int, ...]
    whole: tuple[int, ...]
    view: tuple[int, ...]


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


def gather_report(tx: Reading, store: Store, session: tuple[int, str, int], budget: int, picture: Picture) -> Report:
    """All that a report shows. Raises BudgetError: a budget below the least."""
    number, name, current = session
    topics = {topic.id: topic.name for topic in tx.forest.topics(number)}
    seen: set[int] = set()
    chapters = tuple(
        _gather_chapter(tx, number, head, (topics[head.topic], head.id == current), seen, picture)
        for head in tx.forest.heads(number)
    )
    found = goals(tx, number, state_of(tx, number, head_of(tx, number, current)))
    now = render(Handle(store, number, current).shown(tx, budget), Budget.of(budget)).tokens
    goal = found[-1] if found else ""
    curve = _draw_curve(tx, number, budget)
    return Report(name, goal, budget, now, tuple(tree(tx, number, current)), curve, chapters)


def _gather_chapter(
    tx: Reading, session: int, head: HeadRow, named: tuple[str, bool], seen: set[int], picture: Picture
) -> Chapter:
    """A branch's own steps: those on no older one. `seen` takes them in."""
    state = state_of(tx, session, head)
    tip = tx.log.step(session, state.tip) if state.tip else None
    path = tx.log.along(session, tx.log.path(session, state.tip), 1, tip.depth) if tip else []
    own = [step for step in path if step.n not in seen]
    seen.update(step.n for step in own)
    forked_at = path[-len(own) - 1].n if len(path) > len(own) else 0
    tiles = tuple(tiles_of(tx, session, state.cover))
    records: dict[int, list[StoredRecord]] = {step.n: [] for step in own}
    for record in tx.log.records(session, list(records)):
        records[record.step].append(record)
    steps = tuple(_gather_step(tx, step, records[step.n], tiles, picture) for step in own)
    return Chapter(named[0], head.name, named[1], forked_at, steps, tiles)


def _gather_step(
    tx: Reading, step: Step, records: Sequence[StoredRecord], tiles: Sequence[Tile], picture: Picture
) -> StepShown:
    pieces = tuple(_cut_record(tx, record) for record in records)
    blocks = tuple(tile.id for tile in tiles if step.n in tile.steps)
    return StepShown(
        step.n, sum_up([(piece.what, piece.text) for piece in pieces]), step.raw, pieces, blocks, picture(step.n)
    )


def _cut_record(tx: Reading, record: StoredRecord) -> Piece:
    text = tx.log.text(record.entry)
    what = record.kind if record.kind != "result" else f"result · {record.origin}"
    untrusted = record.origin in ("tool", "page")
    return Piece(f"s{record.step}.{record.k}", what, text[:LONGEST], untrusted, max(len(text) - LONGEST, 0))


def _draw_curve(tx: Reading, session: int, budget: int) -> Curve:
    """At evenly spread steps of the log: what all of it cost raw until then, and what the view of the branch at work cost."""
    marks: dict[int, EventRow] = {}
    for event in tx.forest.events(session):
        if event.state.tip:
            marks[max(event.state.tip, max(marks, default=0))] = event
    wanted = sorted(marks)
    if len(wanted) > POINTS:
        wanted = [wanted[at * (len(wanted) - 1) // (POINTS - 1)] for at in range(POINTS)]
    sums, total = dict[int, int](), 0
    for step in sorted(tx.log.steps(session, range(1, tx.log.last_step(session) + 1)), key=lambda step: step.n):
        total += step.raw
        sums[step.n] = total
    views = [_price_view(tx, session, marks[n].state, budget) for n in wanted]
    return Curve(tuple(wanted), tuple(sums.get(n, total) for n in wanted), tuple(views))


def _price_view(tx: Reading, session: int, state: State, budget: int) -> int:
    """What the view of a revision's path costs, with its intent."""
    workspace = replace(load(tx, session, state, 4 * budget), intent=intent_of(tx, session, state.intent))
    return render(workspace, Budget.of(budget)).tokens
