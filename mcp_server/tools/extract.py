"""The `extract` tool: exact lines of the log at the end of the view. It retypes nothing."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent
from pydantic import BaseModel, ConfigDict

from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import shown_extracts


class LinesGiven(BaseModel):
    """One selection."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str
    why: str = ""
    path: str = ""


async def extract(
    session: str, ctx: Context[Desks], need: str = "", lines: tuple[LinesGiven, ...] = (), budget: int = 400
) -> list[TextContent]:
    """Show what serves the intent."""
    desk, chosen, wanted = at(ctx), [each.model_dump() for each in lines], need or None
    if chosen:
        return shown_extracts(await desk.use(session, lambda seat: seat.session.extract(wanted, chosen, budget)), ())
    decided = await desk.deciders.extract(desk.book(session), wanted, budget)
    return shown_extracts(decided.made, (decided.note,) if decided.note else ())
