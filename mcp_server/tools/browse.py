"""The `browse` tool: a whole run to an answer with its sources. Where that takes long it comes back with the run's name, and the run goes on."""

from __future__ import annotations

from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, agreed, may_browse
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import Browsed, browsed, telling


async def browse(
    session: str,
    task: str,
    ctx: Context[Desks],
    answer: Annotated[ElicitationResult[Yes], Resolve(may_browse)],
    start_url: str = "",
) -> Annotated[CallToolResult, Browsed]:
    """Find an answer."""
    from browser_agent.host.runs import Errand

    desk = at(ctx)
    yes = agreed(answer, desk.browsing.pages.asks_to_open(start_url) if start_url else None)
    errand = Errand(task, start_url)
    return browsed(await desk.browsing.runs.browse(session, desk.book(session), errand, yes, telling(ctx)))
