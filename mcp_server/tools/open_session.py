"""The `open_session` tool: creates or resumes a session."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Session
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts, shorten
from mcp_server.tools.spec import SessionName, Tokens


class Opened(BaseModel, frozen=True):
    """Where a session stands."""

    session: str
    created: bool
    branch: str
    tip: str
    goal: str
    budget: int


async def open_session(
    session: SessionName, ctx: Context[Pools], goal: str = "", budget: Tokens = 0
) -> Annotated[CallToolResult, Opened]:
    """Create or resume a session."""
    await pool_for(ctx).open(session, goal or None, budget or None)
    return format_facts(await pool_for(ctx).use(session, _describe_session))


def _describe_session(opened: Session) -> Opened:
    return Opened(
        session=opened.name,
        created=opened.created,
        branch=opened.branch_name,
        tip=f"s{opened.tip}" if opened.tip else "",
        goal=shorten(opened.goal),
        budget=opened.budget,
    )
