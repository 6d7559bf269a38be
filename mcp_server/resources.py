"""What can be read by address: sessions, and of each its view, blocks, steps, tree and to-do. It changes nothing and renders nothing of its own but lists.

::

    ctxfold://sessions                         every session
    ctxfold://sessions/{session}/context       its view
    ctxfold://sessions/{session}/blocks        what stands in the view, a line each
    ctxfold://sessions/{session}/steps/{n}     one step, exact
    ctxfold://sessions/{session}/tree          topics and branches
    ctxfold://sessions/{session}/todo          the to-do and the constraints that hold
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from ctxfold.errors import RefError
from ctxfold.workspace.workspace import Block, RawStep, Tile, spans
from mcp_server.prompts import described
from mcp_server.sessions.pool import Desk, Desks, Seat, at
from mcp_server.sessions.subscriptions import principal

__all__ = ["changed", "serve_completion", "serve_resources"]

ROOT = "ctxfold://sessions"

_Ref = PromptReference | ResourceTemplateReference

_MOST = 100
"""Most completions a client may be given."""


def changed(session: str) -> frozenset[str]:
    """The addresses whose text may be another after a session changed.

    Args:
        session: its name.
    """
    return frozenset((ROOT, *(f"{ROOT}/{session}/{part}" for part in ("context", "blocks", "tree", "todo"))))


def serve_resources(server: MCPServer[Desks], desks: Desks) -> None:
    """Add every resource and template to a server.

    Args:
        server: where.
        desks: where the sessions are; the SDK gives a resource without blanks no context to ask.
    """

    async def sessions() -> str:
        found = await desks.of(principal()).list()
        return "\n".join(
            f"{one.name} · {one.steps} steps · {one.branches} branches · {_when(one.updated)}" for one in found
        )

    for name, uri, read in (
        ("sessions", ROOT, sessions),
        ("context", f"{ROOT}/{{session}}/context", _context),
        ("blocks", f"{ROOT}/{{session}}/blocks", _blocks),
        ("steps", f"{ROOT}/{{session}}/steps/{{n}}", _step),
        ("tree", f"{ROOT}/{{session}}/tree", _tree),
        ("todo", f"{ROOT}/{{session}}/todo", _todo),
    ):
        words = described(f"resources/{name}")
        server.resource(uri, name=name, title=words.title, description=words.description, mime_type="text/plain")(read)


def serve_completion(server: MCPServer[Desks], desks: Desks) -> None:
    """Complete the arguments of templates and briefings: names of sessions, numbers of steps.

    Args:
        server: where.
        desks: where to look.
    """

    async def complete(
        _ref: _Ref, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion | None:
        given = context.arguments if context and context.arguments else {}
        return await _completed(desks.of(principal()), argument, given)

    register: Any = server.completion
    register()(complete)


async def _completed(desk: Desk, argument: CompletionArgument, given: dict[str, str]) -> Completion | None:
    """What an argument may be, given what was typed of it and the arguments before it; None where nothing is known."""
    match argument.name:
        case "session":
            found = [info.name for info in await desk.list() if info.name.startswith(argument.value)]
        case "n" if "session" in given:
            tip = await desk.use(given["session"], lambda seat: seat.session.tip)
            found = [str(n) for n in range(tip, 0, -1) if str(n).startswith(argument.value)]
        case _:
            return None
    return Completion(values=found[:_MOST], total=len(found), has_more=len(found) > _MOST)


async def _context(session: str, ctx: Context[Desks, Any]) -> str:
    return await at(ctx).use(session, lambda seat: seat.session.view(budget=seat.budget).text)


async def _blocks(session: str, ctx: Context[Desks, Any]) -> str:
    return await at(ctx).use(session, _block_lines)


async def _step(session: str, n: str, ctx: Context[Desks, Any]) -> str:
    if not n.isdecimal():
        raise RefError("a step is a number, such as 12")
    return await at(ctx).use(session, lambda seat: seat.session.recall(f"s{int(n)}").text)


async def _tree(session: str, ctx: Context[Desks, Any]) -> str:
    return await at(ctx).use(session, _tree_lines)


async def _todo(session: str, ctx: Context[Desks, Any]) -> str:
    return await at(ctx).use(session, _todo_lines)


def _todo_lines(seat: Seat) -> str:
    """The to-do, an item a line, then the constraints and decisions that hold."""
    intent = seat.session.intent
    items = [
        " · ".join(part for part in (item.id, item.state, item.text, " ".join(item.evidence)) if part)
        for item in intent.items
    ]
    holding = [each for each in (*intent.constraints, *intent.decisions) if each.holds]
    return "\n".join([*items, *(" · ".join(filter(None, (each.id, each.text, each.ref))) for each in holding)])


def _block_lines(seat: Seat) -> str:
    """The workspace's blocks, a line each. What is older than any budget shows stands as one."""
    workspace = seat.session.workspace
    lines = [_block_line(block) for block in workspace.blocks]
    return "\n".join(
        [
            *(
                [f"older: to s{workspace.older.last} · {workspace.older.count} steps, {workspace.older.raw} tokens raw"]
                if workspace.older
                else []
            ),
            *lines,
        ]
    )


def _block_line(block: Block) -> str:
    match block:
        case RawStep():
            return f"s{block.n} · raw · {block.tokens} tokens"
        case Tile():
            return f"{block.id} · {spans(block.steps)} · {block.scale}, {block.status} · {block.tokens} tokens for {block.raw}"


def _tree_lines(seat: Seat) -> str:
    here = seat.session.branch_name
    return "\n".join(
        f"{topic.name} / {branch.name} · s{branch.tip}{' · current' if branch.name == here else ''}"
        for topic in seat.session.tree()
        for branch in topic.branches
    )


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
