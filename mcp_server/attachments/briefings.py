"""The MCP prompts a person may ask a host for: resume a session, fold now, hand it to a fresh chat.

To add one: a function here, its words in `prompts/briefings/`, its line in `BRIEFINGS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import PromptArgument

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.tokens import count
from mcp_server.prompts import fill_prompt, read_description
from mcp_server.sessions.pool import Pools, pool_for

__all__ = ["BRIEFINGS", "make_briefings"]

_HANDOFF = 4000
"""Tokens a handoff may take when none were said."""


async def resume(session: str, ctx: Context[Pools, Any]) -> str:
    """The session's view, and what to do with it."""
    return await pool_for(ctx).use(session, lambda opened: _frame_view("resume", opened, opened.budget))


async def fold_now(session: str, ctx: Context[Pools, Any]) -> str:
    """The session's view, and how to make room in it."""
    return await pool_for(ctx).use(session, lambda opened: _frame_view("fold_now", opened, opened.budget))


async def handoff(session: str, ctx: Context[Pools, Any], budget: str = "") -> str:
    """A view within a budget, and how to go on from it."""
    if budget and not budget.isdecimal():
        raise InputError("budget is a number of tokens, such as 4000")
    return await pool_for(ctx).use(session, lambda opened: _frame_view("handoff", opened, int(budget or _HANDOFF)))


BRIEFINGS: tuple[Callable[..., Awaitable[str]], ...] = (resume, fold_now, handoff)


def make_briefings() -> list[Prompt]:
    """Every briefing as the SDK wants it, words from files.

    Raises:
        ValueError: a briefing's words and arguments don't match.
    """
    return [_make_prompt(function) for function in BRIEFINGS]


def _make_prompt(function: Callable[..., Awaitable[str]]) -> Prompt:
    name = getattr(function, "__name__", "")
    about = read_description(f"briefings/{name}")
    prompt = Prompt.from_function(function, title=about.title, description=about.description)
    taken = [argument.name for argument in prompt.arguments or ()]
    if taken != list(about.arguments):
        raise ValueError(f"{name}: words and arguments differ: {taken}, {list(about.arguments)}")
    prompt.arguments = [
        PromptArgument(name=argument.name, description=about.arguments[argument.name], required=argument.required)
        for argument in prompt.arguments or ()
    ]
    return prompt


def _frame_view(name: str, opened: Session, budget: int) -> str:
    """The words of a briefing around a view, all of it within a budget."""
    blanks = {"session": opened.name, "tokens": budget, "budget": budget}
    frame = count(fill_prompt(f"briefings/{name}.text", view="", **blanks))
    view = opened.view(budget=budget - frame)
    return fill_prompt(f"briefings/{name}.text", **blanks | {"view": view.text, "tokens": view.tokens})
