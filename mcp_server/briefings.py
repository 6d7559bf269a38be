"""Briefings a person may ask a host for: take a session up again, make room in it, hand it to a fresh chat. Each is words from a file around a view.

To add one: a function here, its words in `prompts/briefings/`, its line in `BRIEFINGS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import PromptArgument

from ctxfold.errors import InputError
from ctxfold.tokens import count
from mcp_server.prompts import described, words
from mcp_server.sessions.pool import Desks, Seat, at

__all__ = ["BRIEFINGS", "briefings"]

_HANDOFF = 4000
"""Tokens a handoff may take when none were said."""


async def resume(session: str, ctx: Context[Desks, Any]) -> str:
    """The session's view, and what to do with it."""
    return await at(ctx).use(session, lambda seat: _around("resume", seat, seat.budget))


async def fold_now(session: str, ctx: Context[Desks, Any]) -> str:
    """The session's view, and how to make room in it."""
    return await at(ctx).use(session, lambda seat: _around("fold_now", seat, seat.budget))


async def handoff(session: str, ctx: Context[Desks, Any], budget: str = "") -> str:
    """A view within a budget, and how to go on from it."""
    if budget and not budget.isdecimal():
        raise InputError("budget is a number of tokens, such as 4000")
    return await at(ctx).use(session, lambda seat: _around("handoff", seat, int(budget or _HANDOFF)))


BRIEFINGS: tuple[Callable[..., Awaitable[str]], ...] = (resume, fold_now, handoff)


def briefings() -> list[Prompt]:
    """Every briefing as the SDK wants it, words from files.

    Raises:
        ValueError: a briefing's words and arguments don't match.
    """
    return [_prompt(function) for function in BRIEFINGS]


def _prompt(function: Callable[..., Awaitable[str]]) -> Prompt:
    name = getattr(function, "__name__", "")
    said = described(f"briefings/{name}")
    prompt = Prompt.from_function(function, title=said.title, description=said.description)
    taken = [argument.name for argument in prompt.arguments or ()]
    if taken != list(said.arguments):
        raise ValueError(f"{name}: words and arguments differ: {taken}, {list(said.arguments)}")
    prompt.arguments = [
        PromptArgument(name=argument.name, description=said.arguments[argument.name], required=argument.required)
        for argument in prompt.arguments or ()
    ]
    return prompt


def _around(name: str, seat: Seat, budget: int) -> str:
    """The words of a briefing around a view, all of it within a budget."""
    blanks = {"session": seat.session.name, "tokens": budget, "budget": budget}
    frame = count(words(f"briefings/{name}.text", view="", **blanks))
    view = seat.session.view(budget=budget - frame)
    return words(f"briefings/{name}.text", **blanks | {"view": view.text, "tokens": view.tokens})
