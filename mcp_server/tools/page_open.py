"""The `page_open` tool: a live page at an address, within a few hundred tokens. It acts on nothing."""

from __future__ import annotations

from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, agreed, may_open
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import shown_page


async def page_open(
    session: str,
    url: str,
    ctx: Context[Desks],
    answer: Annotated[ElicitationResult[Yes], Resolve(may_open)],
    need: str = "",
) -> CallToolResult:
    """Open an address."""
    desk = at(ctx)
    pages = desk.browsing.pages
    yes = agreed(answer, pages.asks_to_open(url))
    return shown_page(await pages.open(session, desk.book(session), url, need, yes))
