"""The tools `open_session`, `record`, `recall`, `context`, and which of a host's files `record` may read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ListRootsRequest, ListRootsResult, Root, TextContent
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, FileUrl

from ctxfold import Session
from ctxfold.errors import InputError, Refused
from ctxfold.log import RecordRef, StepRef
from ctxfold.workspace import spans
from mcp_server.sessions.pool import Pools, SessionPool, pool_for
from mcp_server.tools.results import format_facts, format_hits, format_recalled, format_view, list_notices, shorten


async def context(session: str, ctx: Context[Pools], budget: int = 0, offset: int = 0) -> list[TextContent]:
    """Show the view."""
    return await pool_for(ctx).use(session, lambda opened: format_view(opened, budget, offset))


class Opened(BaseModel, frozen=True):
    """The state of a session."""

    session: str
    created: bool
    branch: str
    tip: str
    goal: str
    budget: int


async def open_session(
    session: str, ctx: Context[Pools], goal: str = "", budget: int = 0
) -> Annotated[CallToolResult, Opened]:
    """Create or resume a session."""
    await pool_for(ctx).open(session, goal or None, budget or None)
    return format_facts(await pool_for(ctx).use(session, _describe_session))


def _describe_session(opened: Session) -> Opened:
    return Opened(
        session=opened.name,
        created=opened.created,
        branch=opened.branch_name,
        tip=f"s{opened.tip}" if opened.tip else "",
        goal=shorten(opened.goal),
        budget=opened.budget,
    )


_ROOTS_SECONDS = 10.0
"""Time that a host has to name its roots."""
LARGEST = 10_000_000
"""Bytes taken in from one file."""
_SYSTEM = tuple(Path(root) for root in ("/proc", "/sys", "/dev"))


async def ask_roots(file: str, ctx: Context[Pools]) -> ListRoots | ListRootsResult:
    """The folders from which `file` may be read, as roots: the host's own, or the working directory if it has none.

    Raises Refused: the host was asked and did not name them.
    """
    if not file or not pool_for(ctx).local:
        return ListRootsResult(roots=[])
    host = ctx.client_capabilities
    if host is None or host.roots is None:
        return ListRootsResult(roots=[Root(uri=FileUrl(Path.cwd().as_uri()))])
    if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return ListRoots()
    try:
        with anyio.fail_after(_ROOTS_SECONDS):
            roots: ListRootsResult = await ctx.session.send_request(ListRootsRequest(), ListRootsResult)
    except (MCPError, TimeoutError) as error:
        raise Refused("the host did not name its folders, so no file can be read: give the text itself") from error
    return roots


@dataclass(frozen=True, slots=True)
class HostFolders:
    """A host's sessions, and the folders from which its files may be read; None if it is on another machine."""

    pool: SessionPool
    folders: tuple[Path, ...] | None


async def find_folders(ctx: Context[Pools], roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> HostFolders:
    """The sessions of the current request's principal, and the folders of its roots."""
    pool = pool_for(ctx)
    folders = tuple(Path(url2pathname(urlsplit(str(root.uri)).path)) for root in roots.roots)
    return HostFolders(pool, folders if pool.local else None)


def read_text_file(name: str, folders: Sequence[Path]) -> tuple[Path, str, int]:
    """Read a file in one of these folders: its real path, its text, its size in bytes.

    The whole file system is not accepted as a folder: a server that starts there was started nowhere in particular.

    Raises:
        InputError: the path is relative, not there, not a plain file, too large, or not UTF-8 text.
        Refused: it is outside the folders, or leads into a hidden folder or the system's own files.
    """
    path = _resolve(name)
    real = [folder.resolve() for folder in folders]
    folder = next((one for one in real if one != Path(one.anchor) and path.is_relative_to(one)), None)
    if folder is None:
        raise Refused(
            "file is outside the folders that may be read: the host's roots or, for a host without any, the folder "
            "that this server was started in. Copy it there, or give the text itself"
        )
    below = path.relative_to(folder).parts
    if any(part.startswith(".") for part in below) or any(path.is_relative_to(root) for root in _SYSTEM):
        raise Refused(
            "file leads to a hidden or system place, which often holds keys: "
            "copy what is needed to a plain folder, or give the text itself"
        )
    raw = _read_bytes(path)
    try:
        return path, raw.decode("utf-8"), len(raw)
    except UnicodeDecodeError as error:
        raise InputError(
            f"file is not UTF-8 text (byte {error.start}): convert it first, or give the text itself"
        ) from error


def _resolve(name: str) -> Path:
    """The real path. Whether a file outside the folders exists is not revealed."""
    if "\0" in name or not Path(name).is_absolute():
        raise InputError("file must be an absolute path: the server's own folder is not yours")
    try:
        return Path(os.path.realpath(name))
    except ValueError as error:
        raise InputError("file is not a path of this system: check it") from error


def _read_bytes(path: Path) -> bytes:
    """The bytes of a plain file. It is opened without waiting, so that a pipe or device can't block, then checked."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InputError(f"file cannot be opened ({error.strerror}): check the path and its rights") from error
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise InputError("file is a folder or device: name a plain file")
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(
            f"file has {facts.st_size} bytes, more than {LARGEST}: split it, or give the part that matters"
        )
    return raw


async def recall(
    session: str,
    ctx: Context[Pools],
    ref: str = "",
    query: str = "",
    limit: int = 5,
    offset: int = 0,
    raw: bool = False,
) -> list[TextContent]:
    """Return exact text by its ref, or search."""
    if query and not ref:
        return await pool_for(ctx).use(session, lambda opened: format_hits(opened, query, limit, offset))
    return await pool_for(ctx).use(session, lambda opened: format_recalled(opened, ref, offset, raw))


class CallGiven(BaseModel, frozen=True, extra="forbid"):
    """One call of a step."""

    name: str
    args: dict[str, Any] = {}
    id: str = ""


class ResultGiven(BaseModel, frozen=True, extra="forbid"):
    """One result, and the id of its call."""

    text: str
    id: str = ""


class StepGiven(BaseModel, frozen=True, extra="forbid"):
    """A step, or results that came late for one."""

    explanation: str = ""
    calls: tuple[CallGiven, ...] = ()
    results: tuple[ResultGiven, ...] = ()
    late_for: int = 0


class Recorded(BaseModel, frozen=True):
    """The steps recorded, and how full the view is."""

    recorded: list[str]
    bytes: int
    view_tokens: int
    budget: int
    consolidated: list[str]
    notes: list[str] = []


@dataclass(frozen=True, slots=True)
class _ToRecord:
    """One thing to record: the function that writes it and returns its step, and its texts."""

    write: Callable[[Session], RecordRef | StepRef]
    texts: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in self.texts)


_NO_STEP = StepGiven()


async def record(
    session: str,
    host: Annotated[HostFolders, Resolve(find_folders)],
    user: str = "",
    step: StepGiven = _NO_STEP,
    file: str = "",
    reply: str = "",
    note: str = "",
    found: str = "",
) -> Annotated[CallToolResult, Recorded]:
    """Record messages, steps, files and notes."""
    entries = [_ToRecord(lambda opened: opened.record_turn(user=user), (user,))] if user else []
    entries += _take_step(step, found)
    entries += [await run_sync(_take_file, file, host.folders)] if file else []
    entries += [_ToRecord(lambda opened: opened.record_reply(reply), (reply,))] if reply else []
    entries += [_ToRecord(lambda opened: opened.record_note(note, origin="model"), (note,))] if note else []
    if not entries:
        raise InputError("nothing to record: give user, step, file, reply, note or found")
    return format_facts(await _write(host.pool, session, entries))


async def _write(pool: SessionPool, session: str, entries: list[_ToRecord]) -> Recorded:
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
        notes=[*kept.notes, *await pool.use(session, list_notices)],
    )


def _take_step(given: StepGiven, found: str) -> Iterator[_ToRecord]:
    """The step with its calls and results, paired by id or else by place; or each of its late results."""
    if found and (given == _NO_STEP or given.late_for):
        yield _ToRecord(lambda opened: opened.record_note(found), (found,))
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
        raise InputError("a step with late_for may hold results only: leave out explanation and calls")
    else:
        for call_id, text in results:
            write = partial(Session.record_result, step=given.late_for, call_id=call_id, text=text)
            yield _ToRecord(write, (text,))


def _make_step(
    explanation: str, calls: list[dict[str, Any]], results: list[tuple[str, str]], found: str = ""
) -> _ToRecord:
    answers = [{"id": call_id, "text": text} for call_id, text in results]
    return _ToRecord(
        lambda opened: opened.record_step(explanation, calls, answers, found),
        (explanation, *(text for _, text in results), found),
    )


def _take_file(name: str, folders: Sequence[Path] | None) -> _ToRecord:
    """A file as the step that read it: its text came from outside, like a tool's."""
    if folders is None:
        raise Refused(
            "files are not read over HTTP, where host and server may be on two machines: give the text itself"
        )
    path, text, size = read_text_file(name, folders)
    call = {"name": "read_file", "args": {"path": str(path), "bytes": size}, "id": "c1"}
    return _make_step("", [call], [("c1", text)])
