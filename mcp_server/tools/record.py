"""The `record` tool: what only the model and the user know, or a file to take in. Then what a driver sees to: folds, plans and extracts that are due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, assert_never

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel, ConfigDict

from ctxfold import Session
from ctxfold.errors import InputError, Refused
from ctxfold.models.deciders import Maintained
from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Desk, Desks, Seat, at
from mcp_server.tools.read_file import read_text_file
from mcp_server.tools.results import facts

__all__ = [
    "Entry",
    "LateResult",
    "NoteKept",
    "ReplyGiven",
    "StepTaken",
    "UserSaid",
    "size",
    "take_in",
]


@dataclass(frozen=True, slots=True)
class UserSaid:
    """The user's own words: opens a turn."""

    text: str


@dataclass(frozen=True, slots=True)
class StepTaken:
    """What the assistant explained, called and got."""

    explanation: str
    calls: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LateResult:
    """A result of a step that was recorded without it."""

    step: int
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplyGiven:
    """The assistant's answer: closes the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class NoteKept:
    """A decision or finding to keep in sight."""

    text: str


Entry = UserSaid | StepTaken | LateResult | ReplyGiven | NoteKept


def take_in(session: Session, entry: Entry) -> int:
    """Record one entry.

    Args:
        session: where.
        entry: what.

    Returns:
        The number of the step it stands in.

    Raises:
        RefError: a late result for a step or call that isn't there.
        StoreError: it could not be committed.
    """
    match entry:
        case UserSaid(text):
            return session.record_turn(user=text).step
        case StepTaken(explanation, calls, results):
            return session.record_step(
                explanation=explanation,
                calls=[dict(call) for call in calls],
                results=[dict(result) for result in results],
            ).step
        case LateResult(step, call_id, text):
            return session.record_result(step, call_id, text).step
        case ReplyGiven(text):
            return session.record_reply(text).step
        case NoteKept(text):
            return session.record_note(text, origin="model").step
        case _:
            assert_never(entry)


def size(entry: Entry) -> int:
    """Bytes of the text an entry brings, without a call's arguments."""
    match entry:
        case StepTaken(explanation, _, results):
            return _bytes(explanation) + sum(_bytes(result["text"]) for result in results)
        case UserSaid(text) | LateResult(text=text) | ReplyGiven(text) | NoteKept(text):
            return _bytes(text)
        case _:
            assert_never(entry)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallGiven(_Given):
    """One call of a step."""

    name: str
    args: dict[str, Any] = {}
    id: str = ""


class ResultGiven(_Given):
    """One result; the id says of which call."""

    text: str
    id: str = ""


class StepGiven(_Given):
    """A step, or results that came late for one."""

    explanation: str = ""
    calls: tuple[CallGiven, ...] = ()
    results: tuple[ResultGiven, ...] = ()
    late_for: int = 0


class Recorded(BaseModel, frozen=True):
    """What was recorded and how full the view is."""

    recorded: list[str]
    bytes: int
    view_tokens: int
    budget: int
    consolidated: list[str]
    notes: list[str] = []


_NO_STEP = StepGiven()


async def record(
    session: str,
    ctx: Context[Desks],
    user: str = "",
    step: StepGiven = _NO_STEP,
    file: str = "",
    reply: str = "",
    note: str = "",
) -> Annotated[CallToolResult, Recorded]:
    """Record what was said, done, decided or named."""
    entries = [
        *_said(user, UserSaid),
        *_step(step),
        *await run_sync(_file, file, at(ctx).files),
        *_said(reply, ReplyGiven),
        *_said(note, NoteKept),
    ]
    if not entries:
        raise InputError("nothing to record: give user, step, file, reply or note")
    return facts(await _recorded(at(ctx), session, entries))


def _said(text: str, kind: type[UserSaid] | type[ReplyGiven] | type[NoteKept]) -> list[Entry]:
    return [kind(text)] if text else []


def _step(given: StepGiven) -> list[Entry]:
    """The step, its calls and results paired by id, or by place where an id was left out."""
    ids = [call.id or f"c{place}" for place, call in enumerate(given.calls, 1)]
    answers = [
        (result.id or (ids[place] if place < len(ids) else ""), result.text)
        for place, result in enumerate(given.results)
    ]
    if given.late_for:
        if given.explanation or given.calls:
            raise InputError("a step with late_for carries results only")
        return [LateResult(given.late_for, call_id, text) for call_id, text in answers]
    if given == _NO_STEP:
        return []
    calls = [
        {"name": call.name, "args": call.args, "id": call_id} for call, call_id in zip(given.calls, ids, strict=True)
    ]
    return [StepTaken(given.explanation, calls, [{"id": call_id, "text": text} for call_id, text in answers])]


def _file(name: str, allowed: bool) -> list[Entry]:
    """A file as the step that read it: its text came from outside, like a tool's."""
    if not name:
        return []
    if not allowed:
        raise Refused(
            "no file is taken in over HTTP, where you and this server may not share a machine: give the text itself"
        )
    file = read_text_file(name)
    call = {"name": "read_file", "args": {"path": file.path, "bytes": file.size}, "id": "c1"}
    return [StepTaken("", [call], [{"id": "c1", "text": file.text}])]


async def _recorded(desk: Desk, session: str, entries: list[Entry]) -> Recorded:
    """Record in order, then let the session consolidate at its budget, and plan and extract where something calls for it."""
    steps = await desk.use(session, lambda seat: [take_in(seat.session, entry) for entry in entries])
    kept = await desk.deciders.maintain(desk.book(session))
    return await desk.use(session, lambda seat: _standing(seat, entries, steps, kept))


def _standing(seat: Seat, entries: list[Entry], steps: list[int], kept: Maintained) -> Recorded:
    return Recorded(
        recorded=list(dict.fromkeys(f"s{step}" for step in steps)),
        bytes=sum(map(size, entries)),
        view_tokens=seat.session.view(budget=seat.budget).tokens,
        budget=seat.budget,
        consolidated=[f"{spans(block.steps)} to {block.id}" for block in kept.folded],
        notes=[*kept.notes],
    )
