"""The `extract` tool: puts exact lines of the log at the end of the view."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent

from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_extracts
from mcp_server.tools.spec import LogRef, SessionName, Shorthand, Tokens


class LinesGiven(Shorthand, frozen=True, extra="forbid"):
    """One selection."""

    ref: LogRef
    why: str = ""
    path: str = ""


async def extract(
    session: SessionName, ctx: Context[Pools], need: str = "", lines: tuple[LinesGiven, ...] = (), budget: Tokens = 400
) -> list[TextContent]:
    """Show what serves the intent."""
    pool, chosen, wanted = pool_for(ctx), [each.model_dump() for each in lines], need or None
    if chosen:
        return format_extracts(await pool.use(session, lambda opened: opened.extract(wanted, chosen, budget)))
    decided = await pool.deciders.extract(pool.lease(session), wanted, budget)
    return format_extracts(decided.made, (decided.note,) if decided.note else ())
