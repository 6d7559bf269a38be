"""The `fold` tool: one block in place of the steps it sums up."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import facts


class Folded(BaseModel, frozen=True):
    """The block that now stands for its steps."""

    block: str
    steps: str
    scale: str
    tokens: int
    was_tokens: int
    notes: list[str] = []


async def fold(
    session: str, ctx: Context[Desks], summary: str = "", first_step: int = 0, last_step: int = 0
) -> Annotated[CallToolResult, Folded]:
    """Fold a stretch of steps into one block."""
    desk, first, last = at(ctx), first_step or None, last_step or None
    if summary:
        tile, note = await desk.use(session, lambda seat: seat.session.fold(summary, first, last)), ""
    else:
        decided = await desk.deciders.fold(desk.book(session), first, last)
        tile, note = decided.made, decided.note
    steps, scale, notes = spans(tile.steps), tile.scale, [note] if note else []
    return facts(Folded(block=tile.id, steps=steps, scale=scale, tokens=tile.tokens, was_tokens=tile.raw, notes=notes))
