"""The `context` tool: shows the view of a session as text."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import TextContent

from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_view
from mcp_server.tools.spec import SessionName, Tokens


async def context(session: SessionName, ctx: Context[Pools], budget: Tokens = 0, offset: int = 0) -> list[TextContent]:
    """Show the view."""
    return await pool_for(ctx).use(session, lambda opened: format_view(opened, budget, offset))
