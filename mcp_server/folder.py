"""Who folds, plans and extracts what a host leaves to ctxfold: the folder's model, where one is set, else the embedded deciders. It decides nothing.

The session is free while that model writes, and a call never waits longer for it than a host waits for the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxfold import Tile
from ctxfold.attendant import Attendant, Kept
from ctxfold.intent import Extraction, Intent
from ctxfold.models import InTime, Model
from ctxfold.planner import Planner
from mcp_server.desk import Desk

__all__ = ["PATIENCE", "extracted", "folded", "planned", "saw_to"]

PATIENCE = 35.0
"""Seconds that one call waits for the replies of the folder's model, all together."""


async def folded(desk: Desk, name: str, summary: str, first: int, last: int) -> tuple[Tile, tuple[str, ...]]:
    """Fold a stretch of a session; without a summary, with the folder's.

    Args:
        desk: where the session lies.
        name: the session.
        summary: what replaces the steps; empty leaves it to the folder.
        first: the first step, 0 for the last alone.
        last: the last step, 0 for the latest.

    Returns:
        The tile, and why its summary is not the folder's model's where it should be.

    Raises:
        FoldError: nothing to fold there, a cut through a tile, or a summary longer than what it replaces.
    """
    if summary:
        tile = await desk.use(name, lambda seat: seat.session.fold(summary, first or None, last or None))
        return tile, ()
    done = await Planner(_in_time(desk)).fold(desk.book(name), first or None, last or None)
    return done.tile, (done.note,) if done.note else ()


async def planned(
    desk: Desk, name: str, summary: str, todo: Sequence[dict[str, Any]]
) -> tuple[Intent, tuple[str, ...]]:
    """Set a session's intent: as the host says, else as the folder does. Returns it, and why it is not the folder's model's where it should be."""
    if summary or todo:
        return await desk.use(name, lambda seat: seat.session.plan(summary or None, todo or None)), ()
    kept = await _attendant(desk).plan(desk.book(name))
    return await desk.use(name, lambda seat: seat.session.intent), kept.notes


async def extracted(
    desk: Desk, name: str, need: str, lines: Sequence[dict[str, Any]], budget: int
) -> tuple[Extraction, tuple[str, ...]]:
    """Put lines of the log in the view: those the host chose, else those the folder does.

    Returns:
        What was extracted, and why it is not the folder's model's choice where it should be.

    Raises:
        InputError: lines of which none is there, or too small a budget.
    """
    if lines:
        return await desk.use(name, lambda seat: seat.session.extract(need or None, lines, budget)), ()
    kept = await _attendant(desk).extract(desk.book(name), need or None, budget)
    return kept.extraction or Extraction(()), kept.notes


async def saw_to(desk: Desk, name: str) -> Kept:
    """What a driver sees to after it records: consolidate, plan and extract, each where it is due, at the session's own budget."""
    budget = await desk.use(name, lambda seat: seat.budget)
    return await _attendant(desk).keep(desk.book(name), budget)


def _attendant(desk: Desk) -> Attendant:
    return Attendant(_in_time(desk))


def _in_time(desk: Desk) -> Model | None:
    """The folder's model, its time beginning anew with each call."""
    return None if desk.folder is None else InTime(desk.folder, PATIENCE)
