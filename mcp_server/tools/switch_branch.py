"""The `switch_branch` tool: where in the session's forest the next message belongs. It records no message."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Move
from mcp_server.sessions.pool import Desks, Seat, at
from mcp_server.tools.results import facts

Told = Literal["auto", "create", "switch", "new_topic", "rename"]
"""What a host may ask for; to go on it need not ask."""


class Moved(BaseModel, frozen=True):
    """Where one stands now, how one came there and why, and every branch there is."""

    action: str
    branch: str
    topic: str
    tip: str
    confidence: float
    reason: str
    branches: list[str]
    notes: list[str] = []


async def switch_branch(
    session: str, ctx: Context[Desks], query: str = "", action: Told = "auto", to: str = "", step: str = ""
) -> Annotated[CallToolResult, Moved]:
    """Move in the forest."""
    desk = at(ctx)
    if action == "auto" and query and not (to or step):
        decided = await desk.deciders.branch(desk.book(session), query)
        return facts(await desk.use(session, lambda seat: _moved(seat, decided.made, decided.note)))

    def work(seat: Seat) -> Moved:
        return _moved(seat, seat.session.branch(action, query or None, step or None, to or None))

    return facts(await desk.use(session, work))


def _moved(seat: Seat, move: Move, note: str = "") -> Moved:
    return Moved(
        action=move.action,
        branch=move.branch,
        topic=move.topic,
        tip=f"s{move.tip}" if move.tip else "none",
        confidence=move.confidence,
        reason=move.reason,
        branches=[f"{topic.name}: {branch.name}" for topic in seat.session.tree() for branch in topic.branches][
            -_NAMED:
        ],
        notes=[note] if note else [],
    )


_NAMED = 40
"""Branches an answer names, the newest."""
