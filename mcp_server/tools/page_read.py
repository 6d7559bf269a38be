"""The `page_read` tool: another part of the live page, or the parts that serve a need. It acts on nothing."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import shown_page


async def page_read(
    session: str, ctx: Context[Desks], find: str = "", ref: str = "", page: int = 0, need: str = "", budget: int = 0
) -> CallToolResult:
    """Read the page."""
    from browser_agent.host.page import Reading

    desk = at(ctx)
    reading = Reading(find, ref, page, need, budget)
    return shown_page(await desk.browsing.pages.read(session, desk.book(session), reading))
