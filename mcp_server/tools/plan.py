"""The `plan` tool: the host writes what the session is after, and reads it back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel, ConfigDict

from ctxfold.decisions.intent.plan import statements_of
from ctxfold.workspace.intent import Intent, Statement
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.record import planned
from mcp_server.tools.results import facts, short


class ItemGiven(BaseModel):
    """One entry of a to-do: a new text, or an item by its id with its new state."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    id: str = ""
    state: Literal["open", "done", "dropped"] = "open"
    evidence: str = ""


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
    session: str,
    ctx: Context[Desks],
    summary: str = "",
    todo: tuple[ItemGiven, ...] = (),
    constraints: tuple[str, ...] = (),
    decisions: tuple[str, ...] = (),
) -> Annotated[CallToolResult, Planned]:
    """Set the intent."""
    items = [_entry(each) for each in todo]
    held, settled = statements_of(constraints, "c"), statements_of(decisions, "d")
    if not (summary or items or held or settled):
        intent, notes = await planned(at(ctx), session, "", ())
        return facts(_planned(intent, notes if at(ctx).folder is not None else (NOTHING,)))
    intent = await at(ctx).use(session, lambda seat: seat.session.plan(summary or None, items, held, settled))
    return facts(_planned(intent, ()))


def _entry(given: ItemGiven) -> dict[str, Any]:
    """An entry as it was given: what was left out is not said."""
    return {name: value for name, value in given.model_dump(exclude_unset=True).items() if value}


def _planned(intent: Intent, notes: tuple[str, ...]) -> Planned:
    return Planned(
        open=[f"{item.id} {short(item.text)}" for item in intent.open],
        done=[item.id for item in intent.items if item.state == "done"],
        dropped=[item.id for item in intent.items if item.state == "dropped"],
        constraints=[_statement(each) for each in intent.binding],
        decisions=[_statement(each) for each in intent.decisions if each.holds],
        notes=[*notes],
    )


def _statement(each: Statement) -> str:
    return f"{each.id} {short(each.text)}{f' ({each.ref})' if each.ref else ''}"
