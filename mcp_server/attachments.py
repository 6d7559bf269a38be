"""The resources (view, versions, blocks, steps, tree, to-do), the briefings `resume`, `fold`, `drop`, `handoff`, and
completion.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import PromptArgument
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.log import spans
from ctxfold.prompts import prompt
from ctxfold.text.words import counted
from ctxfold.tokens import count
from ctxfold.view.result import ToolResult, shorten_result
from ctxfold.workspace import Block, RawStep, Tile
from mcp_server.prompts import PROMPTS, read_description
from mcp_server.sessions.pool import Pools, SessionPool, current_principal, get_pool

_HANDOFF = 4000
"""Tokens of a handoff without a budget."""
_STEPS = re.compile(r"s?(\d{1,9})(?:\s*(?:\.\.|-|–)\s*s?(\d{1,9}))?")


async def resume(session: str, ctx: Context[Pools, Any]) -> str:
    """The session's view, and what to do with it."""
    return await get_pool(ctx).use(session, lambda opened: _frame_view("resume", opened, opened.budget))


async def fold(ctx: Context[Pools, Any], steps: str = "", session: str = "") -> str:
    """Some steps, and how to fold them; with none named the session's view, and how to make room in it."""
    pool = get_pool(ctx)
    name = session or await _find_newest(pool)
    if steps:
        return await pool.use(name, lambda opened: _frame_steps("fold", opened, steps))
    return await pool.use(name, lambda opened: _frame_view("fold_all", opened, opened.budget))


async def drop(steps: str, ctx: Context[Pools, Any], session: str = "") -> str:
    """Some steps that led nowhere, and how to fold them."""
    pool = get_pool(ctx)
    return await pool.use(session or await _find_newest(pool), lambda opened: _frame_steps("drop", opened, steps))


async def handoff(session: str, ctx: Context[Pools, Any], budget: str = "") -> str:
    """A view within a budget, and how to go on from it."""
    if budget and not budget.isdecimal():
        raise InputError("budget is a number of tokens, such as 4000")
    return await get_pool(ctx).use(session, lambda opened: _frame_view("handoff", opened, int(budget or _HANDOFF)))


BRIEFINGS: tuple[Callable[..., Awaitable[str]], ...] = (resume, fold, drop, handoff)


def serve_briefings(server: MCPServer[Pools]) -> None:
    """Add every briefing to a server, with texts from files. Raises ValueError: a text names other arguments."""
    for function in BRIEFINGS:
        server.add_prompt(_make_prompt(function))


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


async def _find_newest(pool: SessionPool) -> str:
    """The session that was written to last. Raises InputError: the store has no session."""
    infos = await pool.list()
    if not infos:
        raise InputError("no session yet: open_session makes one")
    return infos[0].name


def _frame_steps(name: str, opened: Session, steps: str) -> str:
    """Put a briefing's text around the log of some steps, within the session's budget."""
    numbers = _STEPS.fullmatch(steps.strip())
    if numbers is None:
        raise InputError("steps are given as 20..48, or one as 20")
    first, last = numbers[1], numbers[2] or numbers[1]
    where = f"s{first}" if first == last else f"s{first}-s{last}"
    fill = partial(prompt, f"briefings/{name}.text", PROMPTS, session=opened.name, steps=where, first=first, last=last)
    room = opened.budget - count(fill(view=""))
    return fill(view=shorten_result(ToolResult(opened.recall(where).text, where), "", room).text)


def _frame_view(name: str, opened: Session, budget: int) -> str:
    """Put a briefing's text around a view, within a budget."""
    fill = partial(prompt, f"briefings/{name}.text", PROMPTS, session=opened.name, budget=budget)
    return fill(view=opened.view(budget=budget - count(fill(view="")), fill=True).text)


ROOT = "ctxfold://sessions"

_Ref = PromptReference | ResourceTemplateReference

_MAX_COMPLETIONS = 100
"""Completions that the protocol lets a server give."""


def serve_resources(server: MCPServer[Pools], pools: Pools) -> None:
    """Add every resource and template to a server."""

    async def list_sessions() -> str:
        return "\n".join(
            f"{info.name} · {counted(info.steps, 'step')} · {counted(info.branches, 'branch', 'branches')} · "
            f"{datetime.fromtimestamp(info.updated, UTC):%Y-%m-%d %H:%M UTC} · {info.title or 'empty'}"
            for info in await pools.get(current_principal()).list()
        )

    readers: dict[str, Callable[..., Awaitable[str]]] = {
        "sessions": list_sessions,
        "context": _make_reader(lambda opened: opened.view(budget=opened.budget, fill=True).text),
        "blocks": _make_reader(_format_blocks),
        "steps": _make_part_reader(lambda opened, n: opened.recall(f"s{n}").text),
        "versions": _make_part_reader(lambda opened, n: opened.view(fill=True, at=n).text),
        "tree": _make_reader(_format_tree),
        "todo": _make_reader(_format_todo),
    }
    addresses = {"sessions": ROOT} | {name: f"{ROOT}/{{session}}/{name}/{{n}}" for name in ("steps", "versions")}
    for name, read in readers.items():
        about, uri = read_description(f"resources/{name}"), addresses.get(name, f"{ROOT}/{{session}}/{name}")
        server.resource(uri, name=name, title=about.title, description=about.description, mime_type="text/plain")(read)


def serve_completion(server: MCPServer[Pools], pools: Pools) -> None:
    """Complete the arguments of templates and briefings: names of sessions, numbers of steps and versions."""

    async def complete(ref: _Ref, argument: CompletionArgument, context: CompletionContext | None) -> Completion | None:
        pool, given = pools.get(current_principal()), (context and context.arguments) or {}
        match argument.name:
            case "session":
                values = [info.name for info in await pool.list()]
            case "n" if "session" in given:
                newest = await pool.use(given["session"], partial(_find_last, ref))
                values = [str(n) for n in range(newest, 0, -1)]
            case _:
                return None
        values = [value for value in values if value.startswith(argument.value)]
        return Completion(values=values[:_MAX_COMPLETIONS], total=len(values), has_more=len(values) > _MAX_COMPLETIONS)

    register: Any = server.completion
    register()(complete)


def _find_last(ref: _Ref, opened: Session) -> int:
    """The number of the newest version where a template names versions, else of the last step."""
    is_version = isinstance(ref, ResourceTemplateReference) and ref.uri.endswith("/versions/{n}")
    return sum(event.seq for event in opened.history(limit=1)) if is_version else opened.tip


def _make_reader(read: Callable[[Session], str]) -> Callable[..., Awaitable[str]]:
    async def read_session(session: str, ctx: Context[Pools, Any]) -> str:
        return await get_pool(ctx).use(session, read)

    return read_session


def _make_part_reader(read: Callable[[Session, str], str]) -> Callable[..., Awaitable[str]]:
    async def read_part(session: str, n: str, ctx: Context[Pools, Any]) -> str:
        return await get_pool(ctx).use(session, lambda opened: read(opened, n))

    return read_part


def _format_todo(opened: Session) -> str:
    """The to-do, an item a line, then the constraints and decisions that hold."""
    intent = opened.intent
    items = [(item.id, item.state, item.text, " ".join(item.evidence)) for item in intent.items]
    held = [(rule.id, rule.text, rule.ref) for rule in (*intent.constraints, *intent.decisions) if rule.holds]
    return "\n".join(" · ".join(filter(None, parts)) for parts in (*items, *held))


def _format_blocks(opened: Session) -> str:
    """List the workspace's blocks, a line each. All that is older than any budget shows is one line."""
    workspace = opened.workspace
    older = workspace.older
    head = [f"older: to s{older.last} · {counted(older.count, 'step')}, raw {older.raw} tokens"] if older else []
    return "\n".join([*head, *map(_format_block, workspace.blocks)])


def _format_block(block: Block) -> str:
    match block:
        case RawStep():
            return f"s{block.n} · raw · {block.tokens} tokens"
        case Tile():
            what = f"{spans(block.steps)} · {block.scale}, {block.status}"
            return f"{block.id} · {what} · {block.tokens} tokens, raw {block.raw}"


def _format_tree(opened: Session) -> str:
    return "\n".join(
        f"{topic.name} / {branch.name} · s{branch.tip}{' · current' if branch.name == opened.branch_name else ''}"
        for topic in opened.tree()
        for branch in topic.branches
    )
