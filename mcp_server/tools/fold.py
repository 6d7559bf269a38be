"""The `fold` tool: one block in place of the steps it sums up."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Tile
from ctxfold.workspace import spans
from mcp_server.answers import facts
from mcp_server.desk import Desks, Seat
from mcp_server.place import at


class Folded(BaseModel, frozen=True):
    """The block that now stands for its steps."""

    block: str
    steps: str
    scale: str
    tokens: int
    was_tokens: int


async def fold(
    session: str, ctx: Context[Desks], summary: str = "", first_step: int = 0, last_step: int = 0
) -> Annotated[CallToolResult, Folded]:
    """Fold a stretch of steps into one block."""

    def work(seat: Seat) -> Tile:
        return seat.session.fold(summary=summary or None, first_step=first_step or None, last_step=last_step or None)

    tile = await at(ctx).use(session, work)
    return facts(
        Folded(block=tile.id, steps=spans(tile.steps), scale=tile.scale, tokens=tile.tokens, was_tokens=tile.raw)
    )
