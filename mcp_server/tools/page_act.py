"""The `page_act` tool: several actions on the live page, and the page after them. What they bring about is asked first where the guards want a yes."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, agreed, may_act
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import shown_page


async def page_act(
    session: str,
    actions: tuple[dict[str, Any], ...],
    ctx: Context[Desks],
    answer: Annotated[ElicitationResult[Yes], Resolve(may_act)],
    why: str = "",
) -> CallToolResult:
    """Act on the page."""
    desk = at(ctx)
    pages = desk.browsing.pages
    yes = agreed(answer, pages.asks_to_act(session, actions))
    return shown_page(await pages.act(session, desk.book(session), actions, why, yes))
