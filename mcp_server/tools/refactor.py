"""The `refactor` tool: a history that went bad is mended in the view, never in the log. What fails its checks changes nothing, and the answer says why."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Refactored
from ctxfold.decisions.refactor.values import Operator
from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import facts


class Mended(BaseModel, frozen=True):
    """What was chosen, whether it was applied and why, and what the view cost before and after."""

    operator: str
    applied: bool
    reason: str
    steps: str
    was_tokens: int
    tokens: int
    notes: list[str] = []


async def refactor(
    session: str, ctx: Context[Desks], operator: Literal["auto", Operator] = "auto", text: str = ""
) -> Annotated[CallToolResult, Mended]:
    """Mend the view."""
    desk = at(ctx)
    if text:
        return facts(_mended(await desk.use(session, lambda seat: seat.session.refactor(operator, text))))
    decided = await desk.deciders.refactor(desk.book(session), None if operator == "auto" else operator)
    return facts(_mended(decided.made, decided.note))


def _mended(done: Refactored, note: str = "") -> Mended:
    was, now = done.tokens
    return Mended(
        operator=done.operator,
        applied=done.applied,
        reason=done.reason,
        steps=spans(done.steps),
        was_tokens=was,
        tokens=now,
        notes=[note] if note else [],
    )
