"""Asks a host for the folders that files may be taken in from: its roots, else the working directory; a refusal opens nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult, Root
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import FileUrl

from ctxfold.errors import Refused
from mcp_server.sessions.pool import Pools, SessionPool, pool_for

__all__ = ["HostFolders", "ask_roots", "find_folders"]

PATIENCE = 10.0
"""Seconds that a host is given to name its roots."""


async def ask_roots(file: str, ctx: Context[Pools]) -> ListRoots | ListRootsResult:
    """The folders that `file` may lie in, as roots: those of a host that has some to tell, else the working directory. Raises Refused: the host was asked and did not tell them."""
    if not file or not pool_for(ctx).local:
        return ListRootsResult(roots=[])
    host = ctx.client_capabilities
    if host is None or host.roots is None:
        return ListRootsResult(roots=[Root(uri=FileUrl(Path.cwd().as_uri()))])
    if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return ListRoots()
    try:
        with anyio.fail_after(PATIENCE):
            told: ListRootsResult = await ctx.session.send_request(ListRootsRequest(), ListRootsResult)
    except (MCPError, TimeoutError) as error:
        raise Refused(
            "the host did not say which folders are its own, so no file is taken in: give the text itself"
        ) from error
    return told


@dataclass(frozen=True, slots=True)
class HostFolders:
    """A host's sessions, and where its files may be taken in from. `folders`: its roots; None for a host that does not share this machine."""

    pool: SessionPool
    folders: tuple[Path, ...] | None


async def find_folders(ctx: Context[Pools], roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> HostFolders:
    """The sessions of whoever sent this request, and the folders of the roots it told."""
    pool = pool_for(ctx)
    folders = tuple(Path(url2pathname(urlsplit(str(root.uri)).path)) for root in roots.roots)
    return HostFolders(pool, folders if pool.local else None)
