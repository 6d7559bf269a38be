"""Asks a person through their host before something is done in their name; a host that cannot ask counts as a no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit
from pydantic import BaseModel, Field

from browser_agent.observation.inline import clean, cut
from mcp_server.prompts import fill_prompt
from mcp_server.sessions.pool import Pools, pool_for

if TYPE_CHECKING:
    from browser_agent.agent.confirm import Asked

__all__ = ["Yes", "can_ask", "confirm_act", "confirm_browse", "confirm_open", "is_yes", "keep_agreed"]

_MOST, _LONGEST = 200, 400


class Yes(BaseModel):
    """A person's answer."""

    go_on: bool = Field(title="Go on", description="Whether it may be done.")


async def confirm_open(url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether a page may be opened: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_open(url), ctx)


async def confirm_browse(start_url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether a run may begin where it is to begin: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_open(start_url) if start_url else None, ctx)


async def confirm_act(
    session: str, actions: tuple[dict[str, Any], ...], why: str, need: str, found: str, ctx: Context[Pools]
) -> Elicit[Yes] | Yes:
    """Act on a page until what it would send needs the user's yes, and ask for that; a host that cannot ask acts later, with what needs a yes refused."""
    from browser_agent.host.page import Words

    if not can_ask(ctx):
        return Yes(go_on=False)
    pool = pool_for(ctx)
    words = Words(why, need, found)
    return _ask(await pool.browsing.pages.begin(session, pool.lease(session), actions, words), ctx, "questions/send")


def can_ask(ctx: Context[Pools]) -> bool:
    """Whether the host can ask its user."""
    client = ctx.client_capabilities
    elicitation = client.elicitation if client is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def is_yes(outcome: ElicitationResult[Yes]) -> bool:
    """Whether a person said yes."""
    return isinstance(outcome, AcceptedElicitation) and outcome.data.go_on


def keep_agreed(outcome: ElicitationResult[Yes], asked: Asked | None) -> Asked | None:
    """The question a person said yes to; None for any other answer, and for no question."""
    return asked if is_yes(outcome) else None


def _ask(asked: Asked | None, ctx: Context[Pools], question: str = "questions/go_on") -> Elicit[Yes] | Yes:
    if asked is None:
        return Yes(go_on=True)
    if not can_ask(ctx):
        return Yes(go_on=False)
    where = cut(clean(asked.url), _MOST)
    return Elicit(fill_prompt(question, did=cut(clean(asked.did), _LONGEST), where=where), Yes)
