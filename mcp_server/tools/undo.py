"""The `undo` tool: takes back the newest decision, or takes back an undo."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts
from mcp_server.tools.spec import SessionName


class Undone(BaseModel, frozen=True):
    """The decision it is about, and whether it holds now."""

    decision: str
    steps: str
    branch: str
    in_force: bool


async def undo(session: SessionName, ctx: Context[Pools], redo: bool = False) -> Annotated[CallToolResult, Undone]:
    """Take back the newest decision."""
    event = await pool_for(ctx).use(session, lambda opened: opened.redo() if redo else opened.undo())
    return format_facts(
        Undone(decision=event.kind, steps=spans(event.steps), branch=event.branch, in_force=event.standing)
    )
