"""The tools `browse`, `browse_status`, `page_open`, `page_act`, `page_read`, and the questions to the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import CallToolResult, TextContent
from pydantic import AfterValidator, BaseModel, Field

from browser_agent.observation.inline import clean, cut
from ctxfold.prompts import prompt
from mcp_server.prompts import PROMPTS
from mcp_server.sessions.pool import Pools, SessionPool, get_pool
from mcp_server.tools.results import format_page, format_run, list_notices, report_progress

if TYPE_CHECKING:
    from browser_agent.agent.steps import DrivenStep
    from browser_agent.network.effects import Asked

_MAX_URL, _MAX_DEED = 200, 400
"""Characters of an address and of a deed in a question."""


class Yes(BaseModel):
    """A person's answer."""

    go_on: bool = Field(title="Go on", description="Whether it may be done.")


async def confirm_open(url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Ask whether a page may be opened, where the guards want a yes."""
    return _ask_user(get_pool(ctx).browsing.pages.asks_to_open(url), ctx)


async def confirm_browse(start_url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Ask whether a run may begin at its address, where the guards want a yes."""
    return _ask_user(get_pool(ctx).browsing.pages.asks_to_open(start_url) if start_url else None, ctx)


async def confirm_act(
    session: str, actions: tuple[dict[str, Any], ...], why: str, need: str, found: str, ctx: Context[Pools]
) -> Elicit[Yes] | Yes:
    """Act on a page until it would send something that needs the user's yes, and ask for it.

    For a host that cannot ask, what needs a yes is refused.
    """
    from browser_agent.host.page import make_act

    pool, call = get_pool(ctx), make_act(actions, why, need, found)
    asked = await pool.browsing.pages.begin(session, pool.lease(session), call, _can_ask(ctx))
    return _ask_user(asked, ctx, "questions/send")


def _can_ask(ctx: Context[Pools]) -> bool:
    """Whether the host can ask its user."""
    client = ctx.client_capabilities
    elicitation = client.elicitation if client is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _is_yes(outcome: ElicitationResult[Yes]) -> bool:
    return isinstance(outcome, AcceptedElicitation) and outcome.data.go_on


def _ask_user(asked: Asked | None, ctx: Context[Pools], question: str = "questions/go_on") -> Elicit[Yes] | Yes:
    if asked is None or not _can_ask(ctx):
        return Yes(go_on=False)
    where = cut(clean(asked.url), _MAX_URL)
    return Elicit(prompt(question, PROMPTS, did=cut(clean(asked.did), _MAX_DEED), where=where), Yes)


async def browse(
    session: str,
    task: str,
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_browse)],
    start_url: str = "",
) -> CallToolResult:
    """Find an answer."""
    pool, agreed, report = get_pool(ctx), _is_yes(answer), report_progress(ctx)
    state = await pool.browsing.runs.browse(session, pool.lease(session), task, start_url, agreed, report)
    return format_run(state)


async def browse_status(run: str, ctx: Context[Pools], cancel: bool = False) -> CallToolResult:
    """Ask after a run."""
    return format_run(await get_pool(ctx).browsing.runs.status(run, cancel, report_progress(ctx)))


def _check_actions(given: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """Return the actions unchanged. Raises ValidationError: one of them is malformed."""
    from browser_agent.host.page import ACTIONS  # at the first of them, as a server without live pages never needs it

    ACTIONS.validate_python(given)
    return given


async def _answer(pool: SessionPool, session: str, done: DrivenStep) -> CallToolResult:
    """A page call's answer, with what the host's model should do for its session."""
    result = format_page(done)
    result.content += [TextContent(type="text", text=text) for text in await pool.use(session, list_notices)]
    return result


async def page_act(
    session: str,
    actions: Annotated[tuple[dict[str, Any], ...], AfterValidator(_check_actions)],
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_act)],
    why: str = "",
    need: str = "",
    found: str = "",
) -> CallToolResult:
    """Finish the act that `confirm_act` began with the user's answer, and return the page after it."""
    from browser_agent.host.page import make_act

    call = make_act(actions, why, need, found)
    pool = get_pool(ctx)
    return await _answer(pool, session, await pool.browsing.pages.finish(session, call, _is_yes(answer)))


async def page_open(
    session: str,
    url: str,
    ctx: Context[Pools],
    answer: Annotated[ElicitationResult[Yes], Resolve(confirm_open)],
    need: str = "",
    found: str = "",
) -> CallToolResult:
    """Open an address."""
    pool, agreed = get_pool(ctx), _is_yes(answer)
    done = await pool.browsing.pages.open(session, pool.lease(session), url, need, found, agreed)
    return await _answer(pool, session, done)


async def page_read(
    session: str,
    ctx: Context[Pools],
    find: str = "",
    ref: str = "",
    page: int = 0,
    links: bool = False,
    need: str = "",
    budget: int = 0,
    found: str = "",
) -> CallToolResult:
    """Read the page."""
    from browser_agent.host.page import make_reading

    pool, call = get_pool(ctx), make_reading(find, ref, page, need, budget, links, found)
    await pool.browsing.pages.begin(session, pool.lease(session), call)
    return await _answer(pool, session, await pool.browsing.pages.finish(session, call))
