"""The `context` tool: the view of a session, as text. It changes nothing."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent

from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import shown_view


async def context(session: str, ctx: Context[Desks], budget: int = 0, offset: int = 0) -> list[TextContent]:
    """Show the view."""
    return await at(ctx).use(session, lambda seat: shown_view(seat, budget, offset))
