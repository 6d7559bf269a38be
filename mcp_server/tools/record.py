"""The `record` tool: what only the model and the user know, or a file to take in. Then what a driver sees to: folds, plans and extracts that are due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, assert_never

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel, ConfigDict

from ctxfold import Session, Tile
from ctxfold.errors import InputError, Refused
from ctxfold.models import InTime, Model
from ctxfold.models.deciders.fold import Planner
from ctxfold.models.deciders.intent import Attendant, Kept
from ctxfold.workspace.intent import Extraction, Intent
from ctxfold.workspace.workspace import spans
from mcp_server.sessions.pool import Desk, Desks, Seat, at
from mcp_server.tools.read_file import read_text_file
from mcp_server.tools.results import facts

__all__ = [
    "PATIENCE",
    "Entry",
    "LateResult",
    "NoteKept",
    "ReplyGiven",
    "StepTaken",
    "UserSaid",
    "extracted",
    "folded",
    "planned",
    "saw_to",
    "size",
    "take_in",
]


PATIENCE = 35.0
"""Seconds that one call waits for the replies of the folder's model, all together."""


async def folded(desk: Desk, name: str, summary: str, first: int, last: int) -> tuple[Tile, tuple[str, ...]]:
    """Fold a stretch of a session; without a summary, with the folder's.

    Args:
        desk: where the session lies.
        name: the session.
        summary: what replaces the steps; empty leaves it to the folder.
        first: the first step, 0 for the last alone.
        last: the last step, 0 for the latest.

    Returns:
        The tile, and why its summary is not the folder's model's where it should be.

    Raises:
        FoldError: nothing to fold there, a cut through a tile, or a summary longer than what it replaces.
    """
    if summary:
        tile = await desk.use(name, lambda seat: seat.session.fold(summary, first or None, last or None))
        return tile, ()
    done = await Planner(_in_time(desk)).fold(desk.book(name), first or None, last or None)
    return done.tile, (done.note,) if done.note else ()


async def planned(
    desk: Desk, name: str, summary: str, todo: Sequence[dict[str, Any]]
) -> tuple[Intent, tuple[str, ...]]:
    """Set a session's intent: as the host says, else as the folder does. Returns it, and why it is not the folder's model's where it should be."""
    if summary or todo:
        return await desk.use(name, lambda seat: seat.session.plan(summary or None, todo or None)), ()
    kept = await _attendant(desk).plan(desk.book(name))
    return await desk.use(name, lambda seat: seat.session.intent), kept.notes


async def extracted(
    desk: Desk, name: str, need: str, lines: Sequence[dict[str, Any]], budget: int
) -> tuple[Extraction, tuple[str, ...]]:
    """Put lines of the log in the view: those the host chose, else those the folder does.

    Returns:
        What was extracted, and why it is not the folder's model's choice where it should be.

    Raises:
        InputError: lines of which none is there, or too small a budget.
    """
    if lines:
        return await desk.use(name, lambda seat: seat.session.extract(need or None, lines, budget)), ()
    kept = await _attendant(desk).extract(desk.book(name), need or None, budget)
    return kept.extraction or Extraction(()), kept.notes


async def saw_to(desk: Desk, name: str) -> Kept:
    """What a driver sees to after it records: consolidate, plan and extract, each where it is due, at the session's own budget."""
    budget = await desk.use(name, lambda seat: seat.budget)
    return await _attendant(desk).keep(desk.book(name), budget)


def _attendant(desk: Desk) -> Attendant:
    return Attendant(_in_time(desk))


def _in_time(desk: Desk) -> Model | None:
    """The folder's model, its time beginning anew with each call."""
    return None if desk.folder is None else InTime(desk.folder, PATIENCE)


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
    kept = await saw_to(desk, session)
    return await desk.use(session, lambda seat: _standing(seat, entries, steps, kept))


def _standing(seat: Seat, entries: list[Entry], steps: list[int], kept: Kept) -> Recorded:
    return Recorded(
        recorded=list(dict.fromkeys(f"s{step}" for step in steps)),
        bytes=sum(map(size, entries)),
        view_tokens=seat.session.view(budget=seat.budget).tokens,
        budget=seat.budget,
        consolidated=[f"{spans(block.steps)} to {block.id}" for block in kept.folded],
        notes=[*kept.notes],
    )
