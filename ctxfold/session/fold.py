"""Makes and commits folds, consolidations and the goal, within the session's write transaction.

What is committed is resolved, so that replaying it decides nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxfold.decisions.fold.directive import FoldDirective, fold, stretch
from ctxfold.decisions.fold.embedded import Settings, due, embedded_tile, micro_tile
from ctxfold.decisions.fold.tile import told_tile
from ctxfold.decisions.fold.verify import check_summary, known_texts
from ctxfold.session.evidence import log_of
from ctxfold.session.handle import Handle
from ctxfold.session.history.commit import Happened, advance
from ctxfold.session.history.tiles import put_tile
from ctxfold.session.history.unfolding import REACH, unfolded
from ctxfold.session.record import Branch
from ctxfold.store.protocol import Writing
from ctxfold.view.render import query_of
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Block, Tile

__all__ = ["SETTINGS", "consolidated", "folded", "goal_set"]

SETTINGS = Settings()
"""Water marks, and the caps of what is folded without being told how."""


def folded(tx: Writing, now: Handle, directive: FoldDirective, by: By) -> Tile:
    """Fold what a directive names. A directive without a last step means the latest that this handle has seen.

    Args:
        tx: an open write transaction.
        now: the handle's branch.
        directive: what to fold.
        by: who decided, and why.

    Raises:
        FoldError: nothing to fold, a cut through a tile, a summary longer than what it replaces, or one that holds what the log of the steps does not.
    """
    latest = now.seen
    place = now.place(tx, upto=directive.first_step)
    workspace = place.workspace
    blocks = stretch(workspace, directive.first_step, directive.last_step or latest or None)
    number = tx.cover.next_tile(place.session)
    if directive.summary is None:
        tile = micro_tile(workspace, blocks, number, SETTINGS, query_of(workspace))
        return _put(tx, now, place, blocks, tile, By("embedded", by.reason))
    steps = tuple(step for block in blocks for step in block.steps)
    source = [*known_texts(workspace, blocks), *log_of(tx, place.session, steps)]
    check_summary("summary", directive.summary, source, frozenset(steps))
    tile = told_tile(workspace, blocks, number, directive.summary, "model" if by.decider == "model" else "host")
    return _put(tx, now, place, blocks, tile, by)


def consolidated(tx: Writing, now: Handle, limit: int, by: By) -> tuple[Tile, ...]:
    """Fold older steps when the cover stands above its high-water mark.

    Args:
        tx: an open write transaction.
        now: the handle's branch.
        limit: o200k tokens of the view it is for.
        by: who decided, and why.
    """
    older = now.place(tx).workspace.older
    place = now.place(tx, upto=older.first if older else None)
    batch = due(place.workspace, limit, SETTINGS)
    if batch is None:
        return ()
    opened = unfolded(tx, place.session, place.workspace, batch.blocks, REACH * limit)
    number = tx.cover.next_tile(place.session)
    tile = embedded_tile(batch, opened, number, limit, query_of(place.workspace))
    return () if tile.whole else (_put(tx, now, place, batch.blocks, tile, by),)


def _put(tx: Writing, now: Handle, place: Branch, blocks: Sequence[Block], tile: Tile, by: By) -> Tile:
    """Commit a tile in place of blocks, and take it in."""
    after = put_tile(tx, place.session, place.state, tile, (by.decider, by.reason), place.head)
    now.became(after, fold(place.workspace, tile), sum(block.tokens for block in blocks) - tile.tokens)
    return tile


def goal_set(tx: Writing, now: Handle, goal: str) -> None:
    """Note what the session is for; after the first time, a revision of it. The same words again change nothing."""
    place = now.place(tx)
    if goal == (place.workspace.notes[-1].text if place.workspace.notes else ""):
        return
    note = tx.cover.add_note(place.session, place.state.notes, "goal", goal)
    payload = {"slot": "goal", "text": goal}
    advance(
        tx,
        place.session,
        place.head,
        place.state,
        replace(place.state, notes=note),
        Happened("noted", payload, cause="goal"),
    )
    now.forget()
