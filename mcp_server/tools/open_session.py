"""The `open_session` tool: create or resume. It records nothing."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from mcp_server.sessions.pool import Desks, Seat, at
from mcp_server.tools.results import facts, short


class Opened(BaseModel, frozen=True):
    """Where a session stands."""

    session: str
    created: bool
    branch: str
    tip: str
    goal: str
    budget: int


async def open_session(
    session: str, ctx: Context[Desks], goal: str = "", budget: int = 0
) -> Annotated[CallToolResult, Opened]:
    """Create or resume a session."""
    await at(ctx).open(session, goal or None, budget or None)
    return facts(await at(ctx).use(session, _opened))


def _opened(seat: Seat) -> Opened:
    opened = seat.session
    return Opened(
        session=opened.name,
        created=opened.created,
        branch=opened.branch_name,
        tip=f"s{opened.tip}" if opened.tip else "",
        goal=short(opened.goal),
        budget=seat.budget,
    )
