"""The `page_read` tool: shows another part of the live page, or the parts that serve a need."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_page
from mcp_server.tools.spec import ElementRef, SessionName, Tokens


async def page_read(
    session: SessionName,
    ctx: Context[Pools],
    find: str = "",
    ref: ElementRef = "",
    page: int = 0,
    links: bool = False,
    need: str = "",
    budget: Tokens = 0,
    found: str = "",
) -> CallToolResult:
    """Read the page."""
    from browser_agent.host.page import Reading

    pool, reading = pool_for(ctx), Reading(find, ref, page, need, budget, links, found)
    return format_page(await pool.browsing.pages.read(session, pool.lease(session), reading))
