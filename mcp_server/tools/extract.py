"""The `extract` tool: puts exact lines of the log at the end of the view."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent
from pydantic import BaseModel

from ctxfold.models.deciders.intent import Attendant
from ctxfold.workspace.intent import Extraction
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_extracts


class LinesGiven(BaseModel, frozen=True, extra="forbid"):
    """One selection."""

    ref: str
    why: str = ""
    path: str = ""


async def extract(
    session: str, ctx: Context[Pools], need: str = "", lines: tuple[LinesGiven, ...] = (), budget: int = 400
) -> list[TextContent]:
    """Show what serves the intent."""
    pool, chosen = pool_for(ctx), [each.model_dump() for each in lines]
    if chosen:
        return format_extracts(await pool.use(session, lambda opened: opened.extract(need or None, chosen, budget)))
    kept = await Attendant(pool.timed_folder()).extract(pool.lease(session), need or None, budget)
    return format_extracts(kept.extraction or Extraction(()), kept.notes)
