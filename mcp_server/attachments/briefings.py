"""The MCP prompts a person may ask a host for: resume a session, fold steps of it or drop them, hand it to a fresh chat.

To add one: a function here, its words in `prompts/briefings/`, its line in `BRIEFINGS`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import PromptArgument

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.tokens import count
from ctxfold.view.bounded import Result, bounded
from mcp_server.prompts import fill_prompt, read_description
from mcp_server.sessions.pool import Pools, SessionPool, pool_for

__all__ = ["BRIEFINGS", "make_briefings"]

_HANDOFF = 4000
"""Tokens a handoff may take when none were said."""
_STEPS = re.compile(r"s?(\d{1,9})(?:\s*(?:\.\.|-|–)\s*s?(\d{1,9}))?")


async def resume(session: str, ctx: Context[Pools, Any]) -> str:
    """The session's view, and what to do with it."""
    return await pool_for(ctx).use(session, lambda opened: _frame_view("resume", opened, opened.budget))


async def fold(ctx: Context[Pools, Any], steps: str = "", session: str = "") -> str:
    """Some steps, and how to fold them; with none named the session's view, and how to make room in it."""
    pool = pool_for(ctx)
    name = session or await _newest(pool)
    if steps:
        return await pool.use(name, lambda opened: _frame_steps("fold", opened, steps))
    return await pool.use(name, lambda opened: _frame_view("fold_all", opened, opened.budget))


async def drop(steps: str, ctx: Context[Pools, Any], session: str = "") -> str:
    """Some steps that led nowhere, and how to fold them."""
    pool = pool_for(ctx)
    return await pool.use(session or await _newest(pool), lambda opened: _frame_steps("drop", opened, steps))


async def handoff(session: str, ctx: Context[Pools, Any], budget: str = "") -> str:
    """A view within a budget, and how to go on from it."""
    if budget and not budget.isdecimal():
        raise InputError("budget is a number of tokens, such as 4000")
    return await pool_for(ctx).use(session, lambda opened: _frame_view("handoff", opened, int(budget or _HANDOFF)))


BRIEFINGS: tuple[Callable[..., Awaitable[str]], ...] = (resume, fold, drop, handoff)


def make_briefings() -> list[Prompt]:
    """Every briefing as the SDK wants it, words from files. Raises ValueError: a briefing's words and arguments don't match."""
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


async def _newest(pool: SessionPool) -> str:
    """The session that was written to last. Raises InputError: there is none."""
    found = await pool.list()
    if not found:
        raise InputError("no session yet: open_session makes one")
    return found[0].name


def _frame_steps(name: str, opened: Session, steps: str) -> str:
    """The words of a briefing around the log of some steps, within the session's budget."""
    named = _STEPS.fullmatch(steps.strip())
    if named is None:
        raise InputError("steps are given as 20..48, or one as 20")
    first, last = named[1], named[2] or named[1]
    where = f"s{first}" if first == last else f"s{first}-s{last}"
    blanks = {"session": opened.name, "steps": where, "first": first, "last": last}
    room = opened.budget - count(fill_prompt(f"briefings/{name}.text", view="", **blanks))
    return fill_prompt(
        f"briefings/{name}.text", view=bounded(Result(opened.recall(where).text, where), "", room).text, **blanks
    )


def _frame_view(name: str, opened: Session, budget: int) -> str:
    """The words of a briefing around a view, all of it within a budget."""
    blanks = {"session": opened.name, "tokens": budget, "budget": budget}
    frame = count(fill_prompt(f"briefings/{name}.text", view="", **blanks))
    view = opened.view(budget=budget - frame)
    return fill_prompt(f"briefings/{name}.text", **blanks | {"view": view.text, "tokens": view.tokens})
