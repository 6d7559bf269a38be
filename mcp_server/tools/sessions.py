"""The tools `open_session`, `record`, `recall`, `context`, and which of a host's files `record` may read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
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
from ctxfold.log import RecordRef, StepRef, spans
from mcp_server.sessions.pool import Pools, SessionPool, get_pool
from mcp_server.tools.results import format_facts, format_hits, format_recalled, format_view, list_notices, shorten


async def context(session: str, ctx: Context[Pools], budget: int = 0, offset: int = 0) -> list[TextContent]:
    """Show the view."""
    return await get_pool(ctx).use(session, lambda opened: format_view(opened, budget, offset))


async def open_session(
    session: str, ctx: Context[Pools], goal: str = "", budget: int = 0, tools: str = "", after: str = ""
) -> CallToolResult:
    """Create or resume a session, a new one with the memory of another if that is named."""
    await get_pool(ctx).open(session, goal or None, budget or None, after)
    if known := [{"name": line} for line in tools.splitlines() if line.strip()]:
        await get_pool(ctx).use(session, lambda opened: opened.set_tools(known))
    return await get_pool(ctx).use(session, _describe_session)


def _describe_session(opened: Session) -> CallToolResult:
    return format_facts(
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
    if not file or not get_pool(ctx).local:
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


Folders = tuple[Path, ...] | None
"""The folders from which files of a host may be read; None if it is on another machine."""


async def find_folders(ctx: Context[Pools], roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> Folders:
    """The folders of the host's roots."""
    paths = tuple(Path(url2pathname(urlsplit(str(root.uri)).path)) for root in roots.roots)
    return paths if get_pool(ctx).local else None


def read_text_file(name: str, folders: Sequence[Path]) -> tuple[Path, str, int]:
    """Read a file in one of these folders: its real path, its text, its size in bytes.

    The whole file system is not accepted as a folder: a server that starts there was started nowhere in particular.

    Raises:
        InputError: the path is relative, not there, not a plain file, too large, or not UTF-8 text.
        Refused: it is outside the folders, or leads into a hidden folder or the system's own files.
    """
    path = _resolve(name)
    real = [folder.resolve() for folder in folders]
    folder = next((root for root in real if root != Path(root.anchor) and path.is_relative_to(root)), None)
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
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InputError("file is a folder or device: name a plain file")
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"file cannot be opened ({error.strerror}): check the path and its rights") from error
    if len(raw) > LARGEST:
        raise InputError(
            f"file has {facts.st_size} bytes, more than {LARGEST}: split it, or give the part that matters"
        )
    return raw


async def recall(
    ctx: Context[Pools],
    session: str = "",
    ref: str = "",
    query: str = "",
    limit: int = 5,
    offset: int = 0,
    raw: bool = False,
) -> list[TextContent]:
    """Return exact text by its ref, or search a session or all of them."""
    pool = get_pool(ctx)
    if query and not (ref or session):
        return await run_sync(format_hits, None, query, limit, offset, "recall", pool.store)
    if query and not ref:
        return await pool.use(session, lambda opened: format_hits(opened, query, limit, offset))
    return await pool.use(session, lambda opened: format_recalled(opened, ref, offset, raw))


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


Write = Callable[[Session], RecordRef | StepRef]
"""Records one thing in a session and returns its address."""

_NO_STEP = StepGiven()


async def record(
    session: str,
    ctx: Context[Pools],
    folders: Annotated[Folders, Resolve(find_folders)],
    user: str = "",
    step: StepGiven = _NO_STEP,
    file: str = "",
    reply: str = "",
    note: str = "",
    found: str = "",
) -> CallToolResult:
    """Record messages, steps, files and notes."""
    writes: list[Write] = [lambda opened: opened.record_turn(user=user)] if user else []
    writes += _list_step_writes(step, found)
    writes += [await run_sync(_read_as_step, file, folders)] if file else []
    writes += [lambda opened: opened.record_reply(reply)] if reply else []
    writes += [lambda opened: opened.record_note(note, origin="model")] if note else []
    if not writes:
        raise InputError("nothing to record: give user, step, file, reply, note or found")
    return await _write(get_pool(ctx), session, writes)


async def _write(pool: SessionPool, session: str, writes: list[Write]) -> CallToolResult:
    """Record in order, then let the session fold, plan and extract where that is due, at its own budget."""
    refs = await pool.use(session, lambda opened: [write(opened) for write in writes])
    maintained = await pool.deciders.maintain(pool.lease(session))
    view = await pool.use(session, lambda opened: opened.view(budget=opened.budget))
    return format_facts(
        recorded=list(dict.fromkeys(f"s{ref.step}" for ref in refs)),
        view_tokens=view.tokens,
        budget=view.budget,
        consolidated=[f"{spans(block.steps)} to {block.id}" for block in maintained.folded],
        notes=[*maintained.notes, *await pool.use(session, list_notices)],
    )


def _list_step_writes(given: StepGiven, found: str) -> Iterator[Write]:
    """Writes for a step with its calls and results, paired by id or else by place; or for each of its late results."""
    if found and (given == _NO_STEP or given.late_for):
        yield lambda opened: opened.record_note(found)
    if given == _NO_STEP:
        return
    ids = [call.id or f"c{place}" for place, call in enumerate(given.calls, 1)]
    results = [
        {"id": result.id or (ids[place] if place < len(ids) else ""), "text": result.text}
        for place, result in enumerate(given.results)
    ]
    if not given.late_for:
        calls = [{"name": call.name, "args": call.args, "id": id} for call, id in zip(given.calls, ids, strict=True)]
        yield lambda opened: opened.record_step(given.explanation, calls, results, found)
    elif given.explanation or given.calls:
        raise InputError("a step with late_for may hold results only: leave out explanation and calls")
    for result in results if given.late_for else ():
        yield partial(Session.record_result, step=given.late_for, call_id=result["id"], text=result["text"])


def _read_as_step(name: str, folders: Sequence[Path] | None) -> Write:
    """Write a file as the step that read it: its text came from outside, like a tool's."""
    if folders is None:
        raise Refused(
            "files are not read over HTTP, where host and server may be on two machines: give the text itself"
        )
    path, text, size = read_text_file(name, folders)
    call = {"name": "read_file", "args": {"path": str(path), "bytes": size}, "id": "c1"}
    return lambda opened: opened.record_step("", [call], [{"id": "c1", "text": text}])
