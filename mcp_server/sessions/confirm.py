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

__all__ = ["Yes", "confirm_act", "confirm_browse", "confirm_open", "keep_agreed"]

_MOST = 200


class Yes(BaseModel):
    """A person's answer."""

    go_on: bool = Field(title="Go on", description="Whether it may be done.")


async def confirm_open(url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether a page may be opened: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_open(url), ctx)


async def confirm_browse(start_url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether a run may begin where it is to begin: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_open(start_url) if start_url else None, ctx)


async def confirm_act(session: str, actions: tuple[dict[str, Any], ...], ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether something may be done to a page: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_act(session, actions), ctx)


def keep_agreed(outcome: ElicitationResult[Yes], asked: Asked | None) -> Asked | None:
    """The question a person said yes to; None for any other answer, and for no question."""
    return asked if isinstance(outcome, AcceptedElicitation) and outcome.data.go_on else None


def _ask(asked: Asked | None, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    if asked is None:
        return Yes(go_on=True)
    client = ctx.client_capabilities
    elicitation = client.elicitation if client is not None else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return Yes(go_on=False)
    where, kinds = cut(clean(asked.url), _MOST), ", ".join(asked.kinds)
    return Elicit(fill_prompt("questions/go_on", did=cut(clean(asked.did), _MOST), where=where, kinds=kinds), Yes)
