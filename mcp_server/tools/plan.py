"""The `plan` tool: writes to-do, constraints and decisions, and returns them."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold.decisions.intent.plan import statements_of
from ctxfold.workspace.intent import Intent, Statement
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts, shorten
from mcp_server.tools.spec import SessionName, Shorthand


class ItemGiven(Shorthand, frozen=True, extra="forbid"):
    """One entry of a to-do: a new text, or an item by its id with its new state."""

    text: str = ""
    id: str = ""
    state: Literal["open", "done", "dropped"] = "open"
    evidence: str = ""

    def to_entry(self) -> dict[str, str]:
        """The entry as it was given: what was left out is not said, and a new text is open anyway."""
        given = {name: value for name, value in self.model_dump(exclude_unset=True).items() if value}
        if not self.id and self.state == "open":
            given.pop("state", None)
        return given


class Planned(BaseModel, frozen=True):
    """What is still to be done, what holds, and what was decided."""

    open: list[str]
    done: list[str]
    dropped: list[str]
    constraints: list[str]
    decisions: list[str]
    notes: list[str] = []


NOTHING = "nothing was given: write todo, constraints or decisions as the user's words or results call for them"


async def plan(
    session: SessionName,
    ctx: Context[Pools],
    summary: str = "",
    todo: tuple[ItemGiven, ...] = (),
    constraints: tuple[str, ...] = (),
    decisions: tuple[str, ...] = (),
) -> Annotated[CallToolResult, Planned]:
    """Set the intent."""
    pool, items = pool_for(ctx), [each.to_entry() for each in todo]
    held, settled = statements_of(constraints, "c"), statements_of(decisions, "d")
    if summary or items or held or settled:
        intent = await pool.use(session, lambda opened: opened.plan(summary or None, items, held, settled))
        return format_facts(_describe_intent(intent, ""))
    decided = await pool.deciders.plan(pool.lease(session))
    return format_facts(_describe_intent(decided.made, decided.note if pool.deciders.name else NOTHING))


def _describe_intent(intent: Intent, note: str) -> Planned:
    return Planned(
        open=[f"{item.id} {shorten(item.text)}" for item in intent.open],
        done=[item.id for item in intent.items if item.state == "done"],
        dropped=[item.id for item in intent.items if item.state == "dropped"],
        constraints=[_describe_statement(each) for each in intent.binding],
        decisions=[_describe_statement(each) for each in intent.decisions if each.holds],
        notes=[note] if note else [],
    )


def _describe_statement(each: Statement) -> str:
    return f"{each.id} {shorten(each.text)}{f' ({each.ref})' if each.ref else ''}"
