"""Makes and commits folds, consolidations and the goal, within the session's write transaction.

What is committed is resolved, so that replaying it decides nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxfold.decisions.fold.directive import FoldDirective, fold, stretch
from ctxfold.decisions.fold.embedded import Front, due, embedded_tile, front_of, front_room, micro_tile
from ctxfold.decisions.fold.tile import told_tile
from ctxfold.decisions.fold.verify import check_summary, invented, known_texts
from ctxfold.errors import FoldError
from ctxfold.session.evidence import log_of
from ctxfold.session.handle import Handle
from ctxfold.session.history.commit import Happened, advance
from ctxfold.session.history.tiles import put_tile
from ctxfold.session.history.unfolding import REACH, unfolded
from ctxfold.session.record import Branch
from ctxfold.store.sqlite import Writing
from ctxfold.tokens import count
from ctxfold.view.render import query_of
from ctxfold.workspace.by import By, Decider
from ctxfold.workspace.workspace import Block, RawStep, Tile

__all__ = ["consolidated", "folded", "goal_set"]


def folded(tx: Writing, now: Handle, directive: FoldDirective, by: By) -> Tile:
    """Fold what a directive names. A directive without a last step means the latest that this handle has seen.

    Raises:
        FoldError: nothing to fold, a cut through a tile, a summary longer than what it replaces, or one that holds what the log of the steps does not.
    """
    latest = now.seen
    place = now.place(tx, upto=directive.first_step)
    workspace = place.workspace
    blocks = stretch(workspace, directive.first_step, directive.last_step or latest or None)
    empty = [block.steps[0] for block in blocks if isinstance(block, RawStep) and not (block.lines or block.settled)]
    if empty:
        raise FoldError(f"s{empty[0]} shows nothing yet, and what is recorded next stands in it; fold when it has come")
    number = tx.cover.next_tile(place.session)
    if directive.summary is None:
        tile = micro_tile(workspace, blocks, number, now.settings, query_of(workspace))
        return _put(tx, now, place, blocks, tile, By("embedded", by.reason))
    steps = tuple(step for block in blocks for step in block.steps)
    source = [*known_texts(workspace, blocks), *log_of(tx, place.session, steps)]
    check_summary("summary", directive.summary, source, frozenset(steps))
    tile = told_tile(workspace, blocks, number, directive.summary, "model" if by.decider == "model" else "host")
    return _put(tx, now, place, blocks, tile, by)


def consolidated(tx: Writing, now: Handle, limit: int, by: By, summary: str | None = None) -> tuple[Tile, ...]:
    """Fold older steps when the cover stands above its high-water mark. `summary` stands in front of what is chosen of the folded steps; None keeps what was written of them before.

    Raises:
        FoldError: a summary over its room, or one that holds what the log of the steps does not.
    """
    older = now.place(tx).workspace.older
    place = now.place(tx, upto=older.first if older else None)
    batch = due(place.workspace, limit, now.settings)
    if batch is None:
        return ()
    opened = unfolded(tx, place.session, place.workspace, batch.blocks, REACH * limit)
    number = tx.cover.next_tile(place.session)
    front = (
        None
        if summary is None
        else _front(tx, place, batch.blocks, summary.strip(), front_room(limit, now.settings), by)
    )
    tile = embedded_tile(batch, opened, number, limit, query_of(place.workspace), front)
    return () if tile.whole else (_put(tx, now, place, batch.blocks, tile, by),)


def _front(tx: Writing, place: Branch, blocks: Sequence[Block], summary: str, room: int, by: By) -> Front:
    """A summary that may stand in front of blocks. What it says may stand anywhere in their log; that of the newest, which mostly suffices, is read first."""
    costs = count(summary)
    if not summary or costs > room:
        raise FoldError(f"this summary costs {costs} tokens, and its room is {room}; say what matters within that")
    before = front_of(blocks)
    new = summary.removeprefix(before.text) if before else summary
    known = known_texts(place.workspace, blocks)
    steps = tuple(step for block in blocks for step in block.steps)
    fresh = [step for block in blocks if not (isinstance(block, Tile) and block.front) for step in block.steps]
    if invented(new, [*known, *log_of(tx, place.session, fresh)], frozenset(steps)):
        check_summary("summary", new, [*known, *log_of(tx, place.session, steps)], frozenset(steps))
    return Front(summary, "model" if by.decider == "model" else "host")


def _put(tx: Writing, now: Handle, place: Branch, blocks: Sequence[Block], tile: Tile, by: By) -> Tile:
    """Commit a tile in place of blocks, and take it in."""
    after = put_tile(tx, place.session, place.state, tile, (by.decider, by.reason), place.head)
    now.became(after, fold(place.workspace, tile), sum(block.tokens for block in blocks) - tile.tokens)
    return tile


def goal_set(tx: Writing, now: Handle, goal: str, by: Decider = "host") -> None:
    """Note what the session is for; after the first time, a revision of it. The same words again, and none, change nothing."""
    place = now.place(tx)
    if goal in ("", place.workspace.notes[-1].text if place.workspace.notes else ""):
        return
    note = tx.cover.add_note(place.session, place.state.notes, "goal", goal)
    payload = {"slot": "goal", "text": goal}
    advance(
        tx,
        place.session,
        place.head,
        place.state,
        replace(place.state, notes=note),
        Happened("noted", payload, cause="goal", decider=by),
    )
    now.forget()
