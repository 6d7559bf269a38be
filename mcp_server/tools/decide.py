"""The tools that decide on a session: `fold`, `plan`, `extract`, `refactor`, `switch_branch`, `undo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ctxfold import Move, Session
from ctxfold.decisions.marks import name_marks
from ctxfold.decisions.refactor import Operator
from ctxfold.decisions.register import parse_statements
from ctxfold.errors import InputError
from ctxfold.log import spans
from ctxfold.log.lines import UNSAID
from ctxfold.session.branches import Topic
from ctxfold.text.words import counted
from ctxfold.workspace import Intent, MemoryParts, Statement
from mcp_server.sessions.pool import Pools, get_pool
from mcp_server.tools.results import format_extracts, format_facts, format_tip, shorten


class Shorthand(BaseModel, frozen=True, extra="forbid"):
    """An object that may be given as the text of its first field alone."""

    @model_validator(mode="before")
    @classmethod
    def _take_text(cls, given: object) -> object:
        return {next(iter(cls.model_fields)): given} if isinstance(given, str) else given

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Either form."""
        return {"anyOf": [{"type": "string"}, handler.resolve_ref_schema(handler(core))]}


class LinesGiven(Shorthand, frozen=True, extra="forbid"):
    """One selection of lines."""

    ref: str
    why: str = ""
    constraints: str = ""

    def to_selection(self) -> dict[str, Any]:
        """The selection as a session takes it."""
        return self.model_dump() | {"constraints": [self.constraints] if self.constraints else []}


async def extract(
    session: str,
    ctx: Context[Pools],
    need: str = "",
    lines: tuple[LinesGiven, ...] = (),
    hint: str = "",
    budget: int = 400,
) -> list[TextContent]:
    """Put exact lines of the log at the end of the view."""
    pool, chosen, wanted = get_pool(ctx), [line.to_selection() for line in lines], need or None
    if chosen or hint:
        lines_given = None if wanted and not chosen else chosen
        made = await pool.use(session, lambda opened: opened.extract(wanted, lines_given, budget, hint=hint))
        return format_extracts(made)
    decided = await pool.deciders.extract(pool.lease(session), wanted, budget)
    return format_extracts(decided.made, (decided.note,) if decided.note else ())


_NO_MEMORY = MemoryParts()
_TOLD = ("status", "outcome", "todo")


async def fold(
    session: str,
    ctx: Context[Pools],
    memory: MemoryParts = _NO_MEMORY,
    summary: str = "",
    first_step: int = 0,
    last_step: int = 0,
    status: str = "",
    outcome: str = "",
    todo: str = "",
) -> CallToolResult:
    """Write the memory of the past, or fold a stretch of steps into one block."""
    pool, first, last, note = get_pool(ctx), first_step or None, last_step or None, ""
    parts = memory.model_dump(exclude_defaults=True)
    told: dict[str, Any] = {name: text for name, text in zip(_TOLD, (status, outcome, todo), strict=True) if text}
    if parts and (summary or first or told):
        raise InputError("memory replaces all older steps: give it alone or with last_step, or leave it out")
    if parts or (summary and not (first or last or told)):
        tile = await pool.use(session, lambda opened: opened.remember(parts or summary, last))
    elif summary or told:
        tile = await pool.use(session, lambda opened: opened.fold(summary or None, first, last, **told))
    else:
        decided = await pool.deciders.fold(pool.lease(session), first, last)
        tile, note = decided.made, decided.note
    marked = f"not in the log, and marked so: {name_marks(tile.marks)}" if tile.marks else ""
    uncited = tile.memory.text.count(UNSAID) if tile.memory else 0
    unsaid = f"{counted(uncited, 'row')} without a message of the user, marked {UNSAID}" if uncited else ""
    return format_facts(
        block=tile.id,
        steps=spans(tile.steps),
        scale=tile.scale,
        status=tile.status,
        tokens=tile.tokens,
        raw_tokens=tile.raw,
        notes=[note, marked, unsaid],
    )


class TodoEntry(Shorthand, frozen=True, extra="forbid"):
    """One entry of a to-do: a new text, or an item by its id with its new state."""

    text: str = ""
    id: str = ""
    state: Literal["open", "done", "dropped"] = "open"
    evidence: str = ""

    def to_entry(self) -> dict[str, str]:
        """The entry without the fields that were left out; a new text is open anyway."""
        given = {name: value for name, value in self.model_dump(exclude_unset=True).items() if value}
        if not self.id and self.state == "open":
            given.pop("state", None)
        return given


_NOTHING = "nothing was given: write todo, constraints or decisions as the user's words or results call for them"


async def plan(
    session: str,
    ctx: Context[Pools],
    summary: str = "",
    todo: tuple[TodoEntry, ...] = (),
    constraints: tuple[str, ...] = (),
    decisions: tuple[str, ...] = (),
) -> CallToolResult:
    """Write the register."""
    pool, items = get_pool(ctx), [entry.to_entry() for entry in todo]
    held, settled = parse_statements(constraints, "c"), parse_statements(decisions, "d")
    if summary or items or held or settled:
        intent = await pool.use(session, lambda opened: opened.plan(summary or None, items, held, settled))
        return _describe_intent(intent, "")
    decided = await pool.deciders.plan(pool.lease(session))
    return _describe_intent(decided.made, decided.note if pool.deciders.name else _NOTHING)


def _describe_intent(intent: Intent, note: str) -> CallToolResult:
    return format_facts(
        open=[f"{item.id} {shorten(item.text)}" for item in intent.open],
        done=[item.id for item in intent.items if item.state == "done"],
        dropped=[item.id for item in intent.items if item.state == "dropped"],
        constraints=[_describe_statement(constraint) for constraint in intent.binding],
        decisions=[_describe_statement(decision) for decision in intent.decisions if decision.holds],
        notes=[note],
    )


def _describe_statement(statement: Statement) -> str:
    return f"{statement.id} {shorten(statement.text)}{f' ({statement.ref})' if statement.ref else ''}"


async def refactor(
    session: str, ctx: Context[Pools], operator: Literal["auto", Operator] = "auto", text: str = ""
) -> CallToolResult:
    """Refactor the view."""
    pool = get_pool(ctx)
    if text:
        done, note = await pool.use(session, lambda opened: opened.refactor(operator, text)), ""
    else:
        decided = await pool.deciders.refactor(pool.lease(session), None if operator == "auto" else operator)
        done, note = decided.made, decided.note
    was, now = done.tokens
    return format_facts(
        operator=done.operator,
        applied=done.applied,
        reason=done.why,
        steps=spans(done.steps),
        was_tokens=was,
        tokens=now,
        notes=[note],
    )


Action = Literal["auto", "create", "switch", "new_topic", "rename"]
"""What a host may ask for. To continue on its branch it need not ask."""

_NAMED = 40
"""Branches that an answer names: the newest."""


async def switch_branch(
    session: str, ctx: Context[Pools], query: str = "", action: Action = "auto", to: str = "", step: str = ""
) -> CallToolResult:
    """Move to another branch or topic."""
    pool = get_pool(ctx)
    if action == "auto" and query and not (to or step):
        decided = await pool.deciders.branch(pool.lease(session), query)
        move, note = decided.made, decided.note
    else:
        move = await pool.use(session, lambda opened: opened.branch(action, query or None, step or None, to or None))
        note = ""
    topics = await pool.use(session, lambda opened: opened.tree())
    return format_facts(
        action=move.action,
        branch=move.branch,
        topic=move.topic,
        tip=format_tip(move.tip),
        reason=move.reason,
        branches=_list_branches(move, topics),
        notes=[note],
    )


def _list_branches(move: Move, topics: Sequence[Topic]) -> list[str]:
    """The branches most like the message, if they were compared with it; else the newest ones."""
    if move.ranked:
        likest = [(_name_branch(other.topic, other.name), other) for other in move.ranked[:_LIKE]]
        return [f"{name} {other.score:.2f} {shorten(other.said)}".strip() for name, other in likest]
    return [_name_branch(topic.name, branch.name) for topic in topics for branch in topic.branches][-_NAMED:]


def _name_branch(topic: str, branch: str) -> str:
    """A branch, with its topic where that has another name."""
    return branch if branch == topic else f"{branch} (of topic {topic})"


_LIKE = 5
"""Branches that an answer names as like the message."""


async def undo(session: str, ctx: Context[Pools], redo: bool = False, to: str = "") -> CallToolResult:
    """Undo the newest decision, redo it, or go back to an older version."""
    if redo and to:
        raise InputError("redo takes back the last undo, to goes back to a version: leave one of them out")

    def work(opened: Session) -> CallToolResult:
        event = opened.restore(to) if to else opened.redo() if redo else opened.undo()
        has_made_branch = event.kind == "moved" and not redo
        return format_facts(
            **{"done" if to else "redone" if redo else "undone": event.about},
            now_on=opened.branch_name,
            tip=format_tip(opened.tip),
            stays=f"{event.branch} with what was recorded on it" if has_made_branch else "",
        )

    return await get_pool(ctx).use(session, work)
