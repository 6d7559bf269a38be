"""The `recall` tool: exact text by ref, or refs by search. It changes nothing."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent

from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import shown_hits, shown_text


async def recall(
    session: str, ctx: Context[Desks], ref: str = "", query: str = "", limit: int = 5, offset: int = 0
) -> list[TextContent]:
    """Give back what was left out of the view."""
    if query and not ref:
        return await at(ctx).use(session, lambda seat: shown_hits(seat, query, limit))
    return await at(ctx).use(session, lambda seat: shown_text(seat, ref, offset))
