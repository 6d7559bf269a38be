"""Material to train a router with: each routed decision, the history it was made on as numbers, and what followed. No word of the log leaves with it.

The kind is decided by outcome evidence, after the source: *corrective* where what followed went better, *compressive* where it went as well on much less,
*leave alone* for the rest. Where the session was forked at the refactoring, the two branches are compared; else what followed with what came before.
Source: ACR, iterative training: a rollout forked into baseline and refactored, labelled by reward.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ctxfold.decisions.refactor.values import Act
from ctxfold.session.evidence import Trail
from ctxfold.session.history.events import voided
from ctxfold.session.history.export import to_file, told
from ctxfold.session.refactor import names_of
from ctxfold.store.protocol import Reading
from ctxfold.store.values import EventRow, SessionRow

__all__ = ["export_router_pairs"]

Kind = Literal["corrective", "compressive", "leave alone"]

WINDOW = 6
"""Steps before and after a decision that are evidence of what it did."""
BETTER = 0.25
"""By how much fewer of the calls must fail for a history to have gone better."""
SHORTER = 0.8
"""The share of the tokens below which it went on much less."""


def export_router_pairs(name: str, file: str | os.PathLike[str], store: str | None = None) -> None:
    """Write a session's routed decisions with what followed, one JSON object a line: `features`, `operator`, `outcome`.

    A decision that nothing followed yet is left out.

    Args:
        name: the session.
        file: where to; it is private to its owner.
        store: as in `Session.open`.

    Raises:
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: the file cannot be written, or no path can name it or the store.
        StoreError: the store cannot be used.
    """
    to_file(name, file, store, lambda tx, row: told(_pairs(tx, row)))


def _pairs(tx: Reading, row: SessionRow) -> Iterator[dict[str, Any]]:
    events = tx.forest.events(row.id)
    gone = voided(events)
    trail = Trail()
    for event in events:
        if event.kind not in ("refactored", "routed"):
            continue
        learnt = json.loads(event.json)["learnt"]
        if not learnt["routed"]:
            continue
        outcome = _outcome(tx, row.id, events, event, trail)
        if outcome is None:
            continue
        undone = event.seq in gone
        kind = _kind(learnt["verdict"], learnt["tokens"], outcome, undone)
        yield {
            "features": learnt["features"],
            "operator": learnt["operator"],
            "outcome": {
                "kind": kind, "verdict": learnt["verdict"], "decider": event.decider, "undone": undone, "compared": outcome.compared,
                "steps": outcome.steps, "failing_before": outcome.before, "failing_after": outcome.after, "repeated": outcome.repeated,
                "tokens_before": learnt["tokens"][0], "tokens_after": learnt["tokens"][1],
            },
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What followed a decision.

    Attributes:
        steps: how many steps did, within the window.
        before: the share of calls that failed before it, or on the baseline.
        after: the share that failed after it, or on the refactored branch.
        repeated: whether a call that had failed before was made again and failed in the same way.
        compared: whether two branches were compared.
    """

    steps: int
    before: float
    after: float
    repeated: bool
    compared: bool


def _outcome(tx: Reading, session: int, events: Sequence[EventRow], event: EventRow, trail: Trail) -> _Outcome | None:
    """What followed a decision; None where nothing did yet."""
    heads = {head.name: head.id for head in tx.forest.heads(session)}
    earlier = trail.acts(tx, session, _steps_before(tx, session, event))
    pair = [heads.get(name) for name in names_of(event.seq)]
    baseline, refactored = (_recorded(events, head, event.seq) if head else [] for head in pair)
    compared = bool(baseline and refactored)
    following = refactored if compared else _recorded(events, event.head, event.seq)
    if not following:
        return None
    after = trail.acts(tx, session, following)
    before = trail.acts(tx, session, baseline) if compared else earlier
    failed = {(act.key, act.failure) for act in earlier if act.failure}
    again = any((act.key, act.failure) in failed for act in after)
    return _Outcome(len(following), _failing(before), _failing(after), again, compared)


def _recorded(events: Sequence[EventRow], head: int, since: int) -> list[int]:
    """The first steps that were recorded on a branch after an event."""
    found: dict[int, None] = {}
    for event in events:
        if event.seq > since and event.head == head and event.kind == "recorded":
            found[int(json.loads(event.json)["step"])] = None
    return list(found)[:WINDOW]


def _steps_before(tx: Reading, session: int, event: EventRow) -> list[int]:
    tip = tx.log.step(session, event.state.tip) if event.state.tip else None
    if tip is None:
        return []
    path = tx.log.path(session, tip.n)
    return [step.n for step in tx.log.along(session, path, max(1, tip.depth - WINDOW + 1), tip.depth)]


def _failing(acts: Sequence[Act]) -> float:
    ended = [act for act in acts if act.result]
    return round(sum(bool(act.failure) for act in ended) / len(ended), 3) if ended else 0.0


def _kind(verdict: str, tokens: Sequence[int], outcome: _Outcome, undone: bool) -> Kind:
    """What a decision turned out to be."""
    if verdict != "applied" or undone or outcome.repeated:
        return "leave alone"
    if outcome.before - outcome.after >= BETTER:
        return "corrective"
    if outcome.after <= outcome.before and tokens[1] <= SHORTER * tokens[0]:
        return "compressive"
    return "leave alone"
