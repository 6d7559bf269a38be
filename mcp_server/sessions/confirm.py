"""Asking a person through their host, before something is done in their name. It decides nothing: a client that can't ask has said no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit
from pydantic import BaseModel, Field

from browser_agent.observation.inline import clean, cut
from mcp_server.prompts import words
from mcp_server.sessions.pool import Desks, at

if TYPE_CHECKING:
    from browser_agent.agent.confirm import Asked

__all__ = ["Yes", "agreed", "may_act", "may_browse", "may_open"]

_MOST = 200


class Yes(BaseModel):
    """A person's answer."""

    go_on: bool = Field(title="Go on", description="Whether it may be done.")


async def may_open(url: str, ctx: Context[Desks]) -> Elicit[Yes] | Yes:
    """Whether a page may be opened: asked where the guards want a yes."""
    return _asked(at(ctx).browsing.pages.asks_to_open(url), ctx)


async def may_browse(start_url: str, ctx: Context[Desks]) -> Elicit[Yes] | Yes:
    """Whether a run may begin where it is to begin: asked where the guards want a yes."""
    return _asked(at(ctx).browsing.pages.asks_to_open(start_url) if start_url else None, ctx)


async def may_act(session: str, actions: tuple[dict[str, Any], ...], ctx: Context[Desks]) -> Elicit[Yes] | Yes:
    """Whether something may be done to a page: asked where the guards want a yes."""
    return _asked(at(ctx).browsing.pages.asks_to_act(session, actions), ctx)


def agreed(outcome: ElicitationResult[Yes], asked: Asked | None) -> Asked | None:
    """The question a person said yes to; None for any other answer, and for none.

    Args:
        outcome: their answer.
        asked: the question as it stands now.
    """
    return asked if isinstance(outcome, AcceptedElicitation) and outcome.data.go_on else None


def _asked(asked: Asked | None, ctx: Context[Desks]) -> Elicit[Yes] | Yes:
    if asked is None:
        return Yes(go_on=True)
    if not _can_ask(ctx):
        return Yes(go_on=False)
    where, kinds = cut(clean(asked.url), _MOST), ", ".join(asked.kinds)
    return Elicit(words("questions/go_on", did=cut(clean(asked.did), _MOST), where=where, kinds=kinds), Yes)


def _can_ask(ctx: Context[Desks]) -> bool:
    client = ctx.client_capabilities
    elicitation = client.elicitation if client is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
