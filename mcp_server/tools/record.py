"""The `record` tool: records messages, steps and files, then folds, plans and extracts what is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Resolve
from mcp_types import CallToolResult
from pydantic import BaseModel

from ctxfold import Session
from ctxfold.errors import InputError, Refused
from ctxfold.log.refs import RecordRef, StepRef
from ctxfold.workspace.workspace import spans
from mcp_server.sessions.folders import HostFolders, find_folders
from mcp_server.sessions.pool import SessionPool
from mcp_server.tools.read_file import read_text_file
from mcp_server.tools.results import format_facts
from mcp_server.tools.spec import SessionName


class CallGiven(BaseModel, frozen=True, extra="forbid"):
    """One call of a step."""

    name: str
    args: dict[str, Any] = {}
    id: str = ""


class ResultGiven(BaseModel, frozen=True, extra="forbid"):
    """One result; the id says of which call."""

    text: str
    id: str = ""


class StepGiven(BaseModel, frozen=True, extra="forbid"):
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


@dataclass(frozen=True, slots=True)
class _Entry:
    """One thing to record: what writes it and gives its step, and the text it brings, a call's arguments not counted."""

    write: Callable[[Session], RecordRef | StepRef]
    texts: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in self.texts)


_NO_STEP = StepGiven()


async def record(
    session: SessionName,
    host: Annotated[HostFolders, Resolve(find_folders)],
    user: str = "",
    step: StepGiven = _NO_STEP,
    file: str = "",
    reply: str = "",
    note: str = "",
    found: str = "",
) -> Annotated[CallToolResult, Recorded]:
    """Record what was said, done, decided or named."""
    entries = [_Entry(lambda opened: opened.record_turn(user=user), (user,))] if user else []
    entries += _take_step(step, found)
    entries += [await run_sync(_take_file, file, host.folders)] if file else []
    entries += [_Entry(lambda opened: opened.record_reply(reply), (reply,))] if reply else []
    entries += [_Entry(lambda opened: opened.record_note(note, origin="model"), (note,))] if note else []
    if not entries:
        raise InputError("nothing to record: give user, step, file, reply, note or found")
    return format_facts(await _write(host.pool, session, entries))


async def _write(pool: SessionPool, session: str, entries: list[_Entry]) -> Recorded:
    """Record in order, then let the session fold, plan and extract where that is due, at its own budget."""
    refs = await pool.use(session, lambda opened: [entry.write(opened) for entry in entries])
    budget = await pool.use(session, lambda opened: opened.budget)
    kept = await pool.deciders.maintain(pool.lease(session))
    return Recorded(
        recorded=list(dict.fromkeys(f"s{ref.step}" for ref in refs)),
        bytes=sum(entry.size for entry in entries),
        view_tokens=await pool.use(session, lambda opened: opened.view(budget=budget).tokens),
        budget=budget,
        consolidated=[f"{spans(block.steps)} to {block.id}" for block in kept.folded],
        notes=[*kept.notes],
    )


def _take_step(given: StepGiven, found: str) -> Iterator[_Entry]:
    """The step with what was found in it, its calls and results paired by id, or by place where an id was left out; or each of its late results."""
    if found and (given == _NO_STEP or given.late_for):
        yield _Entry(lambda opened: opened.record_note(found), (found,))
    if given == _NO_STEP:
        return
    ids = [call.id or f"c{place}" for place, call in enumerate(given.calls, 1)]
    results = [
        (result.id or (ids[place] if place < len(ids) else ""), result.text)
        for place, result in enumerate(given.results)
    ]
    if not given.late_for:
        calls = [{"name": call.name, "args": call.args, "id": id} for call, id in zip(given.calls, ids, strict=True)]
        yield _make_step(given.explanation, calls, results, found)
    elif given.explanation or given.calls:
        raise InputError("a step with late_for carries results only")
    else:
        for call_id, text in results:
            write = partial(Session.record_result, step=given.late_for, call_id=call_id, text=text)
            yield _Entry(write, (text,))


def _make_step(
    explanation: str, calls: list[dict[str, Any]], results: list[tuple[str, str]], found: str = ""
) -> _Entry:
    answers = [{"id": call_id, "text": text} for call_id, text in results]
    return _Entry(
        lambda opened: opened.record_step(explanation, calls, answers, found),
        (explanation, *(text for _, text in results), found),
    )


def _take_file(name: str, folders: Sequence[Path] | None) -> _Entry:
    """A file as the step that read it: its text came from outside, like a tool's."""
    if folders is None:
        raise Refused(
            "no file is taken in over HTTP, where you and this server may not share a machine: give the text itself"
        )
    file = read_text_file(name, folders)
    call = {"name": "read_file", "args": {"path": file.path, "bytes": file.size}, "id": "c1"}
    return _make_step("", [call], [("c1", file.text)])
