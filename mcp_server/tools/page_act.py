"""The `page_act` tool: does several actions on the live page and shows the page; a person is asked first where that is required."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, confirm_act, keep_agreed
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_page


async def page_act(
    session: str,
    actions: tuple[dict[str, Any], ...],
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_act)],
    why: str = "",
    need: str = "",
    found: str = "",
) -> CallToolResult:
    """Act on the page."""
    from browser_agent.host.page import Words

    pool = pool_for(ctx)
    pages = pool.browsing.pages
    agreed = keep_agreed(answer, pages.asks_to_act(session, actions))
    return format_page(await pages.act(session, pool.lease(session), actions, Words(why, need, found), agreed))
