"""The `refactor` tool: mends a view that went bad, or says why nothing was changed."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold.decisions.refactor.values import Operator, Refactored
from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts
from mcp_server.tools.spec import SessionName


class Mended(BaseModel, frozen=True):
    """What was chosen, whether it was applied and why, and what the view cost before and after."""

    operator: str
    applied: bool
    reason: str
    steps: str
    was_tokens: int
    tokens: int
    notes: list[str] = []

    @classmethod
    def of(cls, done: Refactored, notes: list[str]) -> Mended:
        """The facts of a refactoring."""
        was, now = done.tokens
        where, why = spans(done.steps), done.why
        return cls(
            operator=done.operator,
            applied=done.applied,
            reason=why,
            steps=where,
            was_tokens=was,
            tokens=now,
            notes=notes,
        )


async def refactor(
    session: SessionName, ctx: Context[Pools], operator: Literal["auto", Operator] = "auto", text: str = ""
) -> Annotated[CallToolResult, Mended]:
    """Mend the view."""
    pool = pool_for(ctx)
    if text:
        done, note = await pool.use(session, lambda opened: opened.refactor(operator, text)), ""
    else:
        decided = await pool.deciders.refactor(pool.lease(session), None if operator == "auto" else operator)
        done, note = decided.made, decided.note
    return format_facts(Mended.of(done, [note] if note else []))
