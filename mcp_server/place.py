"""Whose request this is, and so which desk it is served at. It checks no token: who comes this far has been let in."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context

from mcp_server.desk import Desk, Desks
from mcp_server.updates import principal

__all__ = ["at"]


def at(ctx: Context[Desks, Any]) -> Desk:
    """The desk of whoever sent this request: the one its token names, else that of the machine's own user."""
    return ctx.request_context.lifespan_context.of(principal())
