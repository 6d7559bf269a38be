"""The `page_open` tool: opens an address in the session's live page and shows it within a few hundred tokens."""

from __future__ import annotations

from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, confirm_open, keep_agreed
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_page
from mcp_server.tools.spec import Address, SessionName


async def page_open(
    session: SessionName,
    url: Address,
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_open)],
    need: str = "",
    found: str = "",
) -> CallToolResult:
    """Open an address."""
    from browser_agent.host.page import Words

    pool = pool_for(ctx)
    pages = pool.browsing.pages
    agreed = keep_agreed(answer, pages.asks_to_open(url))
    return format_page(await pages.open(session, pool.lease(session), url, Words("", need, found), agreed))
