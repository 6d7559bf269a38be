"""The `browse` tool: runs a task to an answer with its sources, or returns the run's name while it goes on."""

from __future__ import annotations

from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult

from mcp_server.sessions.confirm import Yes, confirm_browse, keep_agreed
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import Browsed, format_run, report_progress
from mcp_server.tools.spec import Address, SessionName


async def browse(
    session: SessionName,
    task: str,
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_browse)],
    start_url: Address = "",
) -> Annotated[CallToolResult, Browsed]:
    """Find an answer."""
    from browser_agent.host.runs import Errand

    pool = pool_for(ctx)
    browsing, errand = pool.browsing, Errand(task, start_url)
    agreed = keep_agreed(answer, browsing.pages.asks_to_open(start_url) if start_url else None)
    return format_run(await browsing.runs.browse(session, pool.lease(session), errand, agreed, report_progress(ctx)))
