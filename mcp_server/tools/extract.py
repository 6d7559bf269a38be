"""The `extract` tool: exact lines of the log at the end of the view. It retypes nothing."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent
from pydantic import BaseModel, ConfigDict

from mcp_server.desk import Desks, Seat
from mcp_server.place import at
from mcp_server.showing import shown_extracts


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

    def work(seat: Seat) -> list[TextContent]:
        chosen = [each.model_dump() for each in lines] or None
        return shown_extracts(seat.session.extract(need or None, chosen, budget))

    return await at(ctx).use(session, work)
