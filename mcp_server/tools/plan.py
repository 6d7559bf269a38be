"""The `plan` tool: what the session is after, by evidence. It closes nothing on a claim alone."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel, ConfigDict

from ctxfold.workspace.intent import Intent
from mcp_server.sessions.pool import Desks, at
from mcp_server.tools.results import facts, short


class ItemGiven(BaseModel):
    """One entry of a to-do: a new text, or an item by its id with its new state."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    id: str = ""
    state: Literal["open", "done", "dropped"] = "open"
    evidence: str = ""


class Planned(BaseModel, frozen=True):
    """What is still to be done, and what holds."""

    open: list[str]
    done: list[str]
    dropped: list[str]
    constraints: list[str]
    notes: list[str] = []


async def plan(
    session: str, ctx: Context[Desks], summary: str = "", todo: tuple[ItemGiven, ...] = ()
) -> Annotated[CallToolResult, Planned]:
    """Set the intent."""
    desk, entries = at(ctx), [_entry(each) for each in todo]
    if summary or entries:
        return facts(
            _planned(await desk.use(session, lambda seat: seat.session.plan(summary or None, entries or None)))
        )
    decided = await desk.deciders.plan(desk.book(session))
    return facts(_planned(decided.made, decided.note))


def _entry(given: ItemGiven) -> dict[str, str]:
    """An entry as it was given: what was left out is not said, and a new text is open anyway."""
    said = {name: value for name, value in given.model_dump(exclude_unset=True).items() if value}
    return (
        said if given.id or given.state != "open" else {name: value for name, value in said.items() if name != "state"}
    )


def _planned(intent: Intent, note: str = "") -> Planned:
    return Planned(
        open=[f"{item.id} {short(item.text)}" for item in intent.open],
        done=[item.id for item in intent.items if item.state == "done"],
        dropped=[item.id for item in intent.items if item.state == "dropped"],
        constraints=[f"{each.ref} {short(each.text)}" for each in intent.binding],
        notes=[note] if note else [],
    )
