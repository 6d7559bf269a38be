"""The `recall` tool: gives exact text by ref, or refs by search."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent

from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_hits, format_recalled
from mcp_server.tools.spec import LogRef, SessionName


async def recall(
    session: SessionName,
    ctx: Context[Pools],
    ref: LogRef = "",
    query: str = "",
    limit: int = 5,
    offset: int = 0,
    raw: bool = False,
) -> list[TextContent]:
    """Give back what was left out of the view."""
    if query and not ref:
        return await pool_for(ctx).use(session, lambda opened: format_hits(opened, query, limit, offset))
    return await pool_for(ctx).use(session, lambda opened: format_recalled(opened, ref, offset, raw))
