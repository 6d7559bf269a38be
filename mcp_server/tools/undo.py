"""The `undo` tool: takes back the newest decision, or takes back an undo."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Session
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts, format_tip
from mcp_server.tools.spec import SessionName


class Undone(BaseModel, frozen=True):
    """What was undone or is in force again, and where that leaves one. `stays`: the branch that an undone move led to."""

    undone: str = ""
    redone: str = ""
    now_on: str
    tip: str
    stays: str = ""


async def undo(session: SessionName, ctx: Context[Pools], redo: bool = False) -> Annotated[CallToolResult, Undone]:
    """Take back the newest decision."""
    return format_facts(await pool_for(ctx).use(session, _redo if redo else _undo))


def _undo(opened: Session) -> Undone:
    event = opened.undo()
    stays = f"{event.branch} with what was recorded on it" if event.kind == "moved" else ""
    return Undone(undone=event.about, now_on=opened.branch_name, tip=format_tip(opened.tip), stays=stays)


def _redo(opened: Session) -> Undone:
    return Undone(redone=opened.redo().about, now_on=opened.branch_name, tip=format_tip(opened.tip))
