"""The `switch_branch` tool: goes to a branch, begins one, or lists those that a message is like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Move, Session
from ctxfold.session.history.tree import Topic
from mcp_server.sessions.pool import Pools, pool_for
from mcp_server.tools.results import format_facts, format_tip, shorten
from mcp_server.tools.spec import SessionName

Action = Literal["auto", "create", "switch", "new_topic", "rename"]
"""What a host may ask for; to go on it need not ask."""

_NAMED = 40
"""Branches an answer names, the newest."""


class Moved(BaseModel, frozen=True):
    """Where one stands now, how one came there and why, and every branch there is; for `auto` those most like the message."""

    action: str
    branch: str
    topic: str
    tip: str
    reason: str
    branches: list[str]
    notes: list[str] = []


async def switch_branch(
    session: SessionName, ctx: Context[Pools], query: str = "", action: Action = "auto", to: str = "", step: str = ""
) -> Annotated[CallToolResult, Moved]:
    """Move in the forest."""

    def move(opened: Session) -> Moved:
        return _describe_move(opened.branch(action, query or None, step or None, to or None), opened.tree())

    pool = pool_for(ctx)
    if action == "auto" and query and not (to or step):
        decided = await pool.deciders.branch(pool.lease(session), query)
        topics = await pool.use(session, lambda opened: opened.tree())
        return format_facts(_describe_move(decided.made, topics, decided.note))
    return format_facts(await pool.use(session, move))


def _describe_move(move: Move, topics: Sequence[Topic], note: str = "") -> Moved:
    return Moved(
        action=move.action,
        branch=move.branch,
        topic=move.topic,
        tip=format_tip(move.tip),
        reason=move.reason,
        branches=_list_likest(move) if move.ranked else _list_branches(topics),
        notes=[note] if note else [],
    )


def _list_likest(move: Move) -> list[str]:
    return [
        f"{_name(each.topic, each.name)} {each.score:.2f} {shorten(each.said)}".strip() for each in move.ranked[:_LIKE]
    ]


def _list_branches(topics: Sequence[Topic]) -> list[str]:
    return [_name(topic.name, branch.name) for topic in topics for branch in topic.branches][-_NAMED:]


def _name(topic: str, branch: str) -> str:
    """A branch, with its topic where that has another name."""
    return branch if branch == topic else f"{branch} (of topic {topic})"


_LIKE = 5
"""Branches an answer names as like the message, the most alike."""
