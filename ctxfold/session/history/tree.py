"""The topics and branches of a session as values: where each stands and what is folded on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.session.history.commit import state_of
from ctxfold.session.history.tiles import tiles_of
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import HeadRow, Path, State
from ctxfold.workspace.workspace import spans

__all__ = ["BranchInfo", "Folded", "Topic", "tree"]


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
    for head in tx.forest.heads(session):
        state = state_of(tx, session, head)
        path = tx.log.path(session, state.tip)
        older = paths.setdefault(head.topic, [])
        info = _branch(tx, session, (head, state), path, older)
        made.setdefault(head.topic, []).append(replace(info, current=head.id == current))
        older.append((head.name, dict(path)))
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
