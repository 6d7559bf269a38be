"""Browse and page tools."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult
from pydantic import AfterValidator, Field, TypeAdapter

from mcp_server.sessions.pool import (
    Pools,
    Yes,
    can_ask,
    confirm_act,
    confirm_browse,
    confirm_open,
    is_yes,
    keep_agreed,
    pool_for,
)
from mcp_server.tools.results import Browsed, format_page, format_run, report_progress
from mcp_server.tools.spec import Address, ElementRef, SessionName, Tokens


async def browse(
    session: SessionName,
    task: str,
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_browse)],
    start_url: Address = "",
) -> Annotated[CallToolResult, Browsed]:
    """Find an answer."""
    from browser_agent.host.runs import Errand

    pool = pool_for(ctx)
    browsing, errand = pool.browsing, Errand(task, start_url)
    agreed = keep_agreed(answer, browsing.pages.asks_to_open(start_url) if start_url else None)
    return format_run(await browsing.runs.browse(session, pool.lease(session), errand, agreed, report_progress(ctx)))


async def browse_status(run: str, ctx: Context[Pools], cancel: bool = False) -> Annotated[CallToolResult, Browsed]:
    """Ask after a run."""
    return format_run(await pool_for(ctx).browsing.runs.status(run, cancel, report_progress(ctx)))


def describe_actions() -> dict[str, Any]:
    """The schema of `actions`, kind by kind, which the definition gives in words; with examples where not every text will do."""
    schema = _read_adapter().json_schema()
    for action in schema["$defs"].values():
        for name in _EXAMPLES.keys() & action["properties"].keys():
            action["properties"][name] |= {"examples": [_EXAMPLES[name]]}
    return {"actions": schema}


_EXAMPLES = {"url": "https://example.org/", "key": "Enter"}


def _check_actions(given: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """The actions as they were given. Raises ValidationError: one of them is none."""
    _read_adapter().validate_python(given)
    return given


@cache
def _read_adapter() -> TypeAdapter[Any]:
    """Reads actions; made at the first of them, as a server without live pages never needs it."""
    from browser_agent.actions import PageAction

    return TypeAdapter(tuple[Annotated[PageAction, Field(discriminator="kind")], ...])


async def page_act(
    session: SessionName,
    actions: Annotated[tuple[dict[str, Any], ...], AfterValidator(_check_actions)],
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_act)],
    why: str = "",
    need: str = "",
    found: str = "",
) -> CallToolResult:
    """Act on the page."""
    from browser_agent.host.page import Words

    pool, words = pool_for(ctx), Words(why, need, found)
    pages = pool.browsing.pages
    if can_ask(ctx):
        return format_page(await pages.finish(session, actions, words, is_yes(answer)))
    return format_page(await pages.act(session, pool.lease(session), actions, words))


async def page_open(
    session: SessionName,
    url: Address,
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_open)],
    need: str = "",
    found: str = "",
) -> CallToolResult:
    """Open an address."""
    from browser_agent.host.page import Words

    pool = pool_for(ctx)
    pages = pool.browsing.pages
    agreed = keep_agreed(answer, pages.asks_to_open(url))
    return format_page(await pages.open(session, pool.lease(session), url, Words("", need, found), agreed))


async def page_read(
    session: SessionName,
    ctx: Context[Pools],
    find: str = "",
    ref: ElementRef = "",
    page: int = 0,
    links: bool = False,
    need: str = "",
    budget: Tokens = 0,
    found: str = "",
) -> CallToolResult:
    """Read the page."""
    from browser_agent.host.page import PageReading

    pool, reading = pool_for(ctx), PageReading(find, ref, page, need, budget, links, found)
    return format_page(await pool.browsing.pages.read(session, pool.lease(session), reading))
