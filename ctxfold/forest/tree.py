"""The forest as something to look at: topics, their branches, where each stands. It reads; it moves nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold.commit import state_of
from ctxfold.store.protocol import Reading

__all__ = ["BranchInfo", "Topic", "tree"]


@dataclass(frozen=True, slots=True)
class BranchInfo:
    """A branch: its name, the last step of its path, how many steps lead there, what they cost raw (o200k tokens), and where it left another.

    `forked_at` is the last step it shares with an older branch of its topic, 0 for none; `current` marks the branch the handle stands on.
    """

    name: str
    tip: int
    steps: int
    tokens: int
    forked_at: int
    current: bool


@dataclass(frozen=True, slots=True)
class Topic:
    """A root of the forest with its branches, oldest first."""

    name: str
    branches: tuple[BranchInfo, ...]


def tree(tx: Reading, session: int, current: int) -> list[Topic]:
    """The topics of a session, oldest first.

    Args:
        tx: an open transaction.
        session: the session's row id.
        current: the branch the handle stands on.
    """
    made: dict[int, list[BranchInfo]] = {topic.id: [] for topic in tx.forest.topics(session)}
    paths: dict[int, list[dict[int, int]]] = {}
    for head in tx.forest.heads(session):
        state = state_of(tx, session, head)
        tip = tx.log.step(session, state.tip) if state.tip else None
        path = dict(tx.log.path(session, state.tip))
        forked = max((_shared(tx, session, path, other) for other in paths.get(head.topic, [])), default=0)
        paths.setdefault(head.topic, []).append(path)
        steps, raw = (0, 0) if tip is None else (tip.depth, tip.raw_upto)
        made.setdefault(head.topic, []).append(BranchInfo(head.name, state.tip, steps, raw, forked, head.id == current))
    return [Topic(topic.name, tuple(made[topic.id])) for topic in tx.forest.topics(session)]


def _shared(tx: Reading, session: int, path: dict[int, int], other: dict[int, int]) -> int:
    """The last step two paths share, 0 for none."""
    common = [(min(depth, other[lane]), lane) for lane, depth in path.items() if lane in other]
    if not common:
        return 0
    depth, lane = max(common)
    steps = tx.log.along(session, ((lane, depth),), depth, depth)
    return steps[0].n if steps else 0
