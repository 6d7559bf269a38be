"""The `page_act` tool: does several actions on the live page and shows the page; a person is asked first where that is required."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, can_ask, confirm_act, is_yes
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

    pool, words = pool_for(ctx), Words(why, need, found)
    pages = pool.browsing.pages
    if can_ask(ctx):
        return format_page(await pages.finish(session, actions, words, is_yes(answer)))
    return format_page(await pages.act(session, pool.lease(session), actions, words))
