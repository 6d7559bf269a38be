"""The `undo` tool: take back the newest decision, or take back an undo. No record is touched by either."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Desks, Seat, at
from mcp_server.tools.results import facts


class Undone(BaseModel, frozen=True):
    """The decision it is about, and whether it holds now."""

    decision: str
    steps: str
    branch: str
    in_force: bool


async def undo(session: str, ctx: Context[Desks], redo: bool = False) -> Annotated[CallToolResult, Undone]:
    """Take back the newest decision."""

    def work(seat: Seat) -> Undone:
        event = seat.session.redo() if redo else seat.session.undo()
        return Undone(decision=event.kind, steps=spans(event.steps), branch=event.branch, in_force=event.standing)

    return facts(await at(ctx).use(session, work))
