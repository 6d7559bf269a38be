"""The `browse_status` tool: returns how a run stands, or ends it."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import Browsed, format_run, report_progress


async def browse_status(run: str, ctx: Context[Pools], cancel: bool = False) -> Annotated[CallToolResult, Browsed]:
    """Ask after a run."""
    return format_run(await pool_for(ctx).browsing.runs.status(run, cancel, report_progress(ctx)))
