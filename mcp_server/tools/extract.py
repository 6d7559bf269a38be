"""The `extract` tool: exact lines of the log at the end of the view. It retypes nothing."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent
from pydantic import BaseModel, ConfigDict

from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.record import extracted
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
    made, notes = await extracted(at(ctx), session, need, [each.model_dump() for each in lines], budget)
    return shown_extracts(made, notes)
