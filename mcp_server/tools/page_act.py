"""The `page_act` tool: does several actions on the live page and shows the page; a person is asked first where that is required."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp_types import CallToolResult
from pydantic import AfterValidator, Field, TypeAdapter

from mcp_server.sessions.confirm import Yes, can_ask, confirm_act, is_yes
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_page
from mcp_server.tools.spec import SessionName


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
