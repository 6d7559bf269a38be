"""The `browse_status` tool: what became of a run, or its end. It begins none."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import Browsed, browsed, telling


async def browse_status(run: str, ctx: Context[Desks], cancel: bool = False) -> Annotated[CallToolResult, Browsed]:
    """Ask after a run."""
    return browsed(await at(ctx).browsing.runs.status(run, cancel, telling(ctx)))
