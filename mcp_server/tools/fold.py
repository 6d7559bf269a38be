"""The `fold` tool: puts one block in place of the steps it sums up."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold.workspace.workspace import Tile, spans
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts
from mcp_server.tools.spec import SessionName


class Folded(BaseModel, frozen=True):
    """The block that now stands for its steps."""

    block: str
    steps: str
    scale: str
    tokens: int
    raw_tokens: int
    notes: list[str] = []

    @classmethod
    def of(cls, tile: Tile, notes: list[str]) -> Folded:
        """The facts of a tile that was made."""
        where, raw = spans(tile.steps), tile.raw
        return cls(block=tile.id, steps=where, scale=tile.scale, tokens=tile.tokens, raw_tokens=raw, notes=notes)


async def fold(
    session: SessionName, ctx: Context[Pools], summary: str = "", first_step: int = 0, last_step: int = 0
) -> Annotated[CallToolResult, Folded]:
    """Fold a stretch of steps into one block."""
    pool, first, last, note = pool_for(ctx), first_step or None, last_step or None, ""
    if summary:
        tile = await pool.use(session, lambda opened: opened.fold(summary, first, last))
    else:
        decided = await pool.deciders.fold(pool.lease(session), first, last)
        tile, note = decided.made, decided.note
    beside = f"kept beside it, because it is in use: {', '.join(tile.beside)}" if tile.beside else ""
    return format_facts(Folded.of(tile, [each for each in (note, beside) if each]))
