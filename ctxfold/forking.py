"""A session forked at a refactoring: one branch as it would have gone on without it, one as it went on with it. It copies nothing and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold.commit import GENESIS
from ctxfold.current import Current
from ctxfold.errors import BranchError
from ctxfold.forest.moves import branch_off
from ctxfold.store.protocol import Writing

__all__ = ["Forked", "forked", "names_of"]


@dataclass(frozen=True, slots=True)
class Forked:
    """The two branches of a comparison: `baseline` stands before the refactoring, `refactored` right after it; `event` is its number."""

    event: int
    baseline: str
    refactored: str


def names_of(event: int) -> tuple[str, str]:
    """What the two branches of a refactoring are called."""
    return f"baseline-{event}", f"refactored-{event}"


def forked(tx: Writing, now: Current, event: int | None) -> Forked:
    """Fork at a refactoring. The handle stays where it stands.

    Args:
        tx: an open write transaction.
        now: the handle's branch.
        event: the refactoring's number in the history; None for the newest that stands on this branch.

    Raises:
        BranchError: there is none, or it was forked at before.
    """
    place = now.place(tx)
    row = tx.forest.event(place.session, place.state.guide if event is None else event)
    if row is None or row.kind != "refactored":
        raise BranchError("no refactoring stands there; `ctxfold log` shows the numbers of those there are")
    before = tx.forest.event(place.session, row.prev) if row.prev else None
    baseline, refactored = names_of(row.seq)
    branch_off(tx, place.session, place.head, GENESIS if before is None else before.state, baseline)
    branch_off(tx, place.session, place.head, row.state, refactored)
    now.forget()
    return Forked(row.seq, baseline, refactored)
