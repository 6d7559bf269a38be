"""The `open_session` tool: create or resume. It records nothing."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from mcp_server.answers import facts
from mcp_server.desk import Desks, Seat
from mcp_server.place import at


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
    seat = await at(ctx).open(session, goal or None, budget or None)
    return facts(_opened(seat))


def _opened(seat: Seat) -> Opened:
    at = seat.session
    return Opened(
        session=at.name,
        created=at.created,
        branch=at.branch_name,
        tip=f"s{at.tip}" if at.tip else "",
        goal=at.goal,
        budget=seat.budget,
    )
