"""The `switch_branch` tool: goes to a branch or begins one, or lists the branches that a message is like."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Move
from mcp_server.sessions.pool import Desks, Seat, at
from mcp_server.tools.results import facts, short

Told = Literal["auto", "create", "switch", "new_topic", "rename"]
"""What a host may ask for; to go on it need not ask."""


class Moved(BaseModel, frozen=True):
    """Where one stands now, how one came there and why, and every branch there is; for `auto` those most like the message."""

    action: str
    branch: str
    topic: str
    tip: str
    reason: str
    branches: list[str]


async def switch_branch(
    session: str, ctx: Context[Desks], query: str = "", action: Told = "auto", to: str = "", step: str = ""
) -> Annotated[CallToolResult, Moved]:
    """Move in the forest."""

    def work(seat: Seat) -> Moved:
        return _moved(seat, seat.session.branch(action, query or None, step or None, to or None))

    return facts(await at(ctx).use(session, work))


def _moved(seat: Seat, move: Move) -> Moved:
    return Moved(
        action=move.action,
        branch=move.branch,
        topic=move.topic,
        tip=f"s{move.tip}" if move.tip else "none",
        reason=move.reason,
        branches=_like(move) if move.ranked else _names(seat),
    )


def _like(move: Move) -> list[str]:
    return [f"{each.topic}: {each.name} {each.score:.2f} {short(each.said)}" for each in move.ranked[:_LIKE]]


def _names(seat: Seat) -> list[str]:
    return [f"{topic.name}: {branch.name}" for topic in seat.session.tree() for branch in topic.branches][-_NAMED:]


_NAMED = 40
"""Branches an answer names, the newest."""
_LIKE = 5
"""Branches an answer names as like the message, the most alike."""
