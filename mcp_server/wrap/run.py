"""Runs the wrapper between a host on standard input and output and one server, to the end of either."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

import anyio
import anyio.abc
import anyio.to_thread

from ctxfold.errors import CtxfoldError
from mcp_server.transport.stdio import Ending, Pipes, leave, watch_parent
from mcp_server.wrap.ends import End, Host, LocalServer, start
from mcp_server.wrap.keeper import Keeper
from mcp_server.wrap.messages import explain, tell
from mcp_server.wrap.relay import Relay

__all__ = ["Target", "run_wrap"]

_GONE = (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError, anyio.ClosedResourceError)
_FAILED = 3


@dataclass(frozen=True, slots=True)
class Target:
    """What is wrapped: a command with its environment, or a URL with headers. `limit`: seconds without any sign after which a call is answered with an error."""

    command: Sequence[str] = ()
    env: Mapping[str, str] | None = None
    url: str = ""
    headers: Mapping[str, str] | None = None
    limit: float = 600.0


def run_wrap(target: Target, keeper: Keeper, pipes: Pipes) -> NoReturn:
    """Serve one host, then end the process: 0 when the host is gone, 1 when the server ended first, 3 when it cannot be reached, 128 + n after signal n."""
    leave(anyio.run(_run, target, keeper, pipes))


async def _run(target: Target, keeper: Keeper, pipes: Pipes) -> int:
    ending, codes, started = Ending(), list[int](), list[LocalServer]()
    with ending.on_signals():
        async with anyio.create_task_group() as tasks:

            async def end_when_asked() -> None:
                codes.append(await ending.wait())
                for server in started:
                    await server.end()
                tasks.cancel_scope.cancel()

            tasks.start_soon(end_when_asked)
            tasks.start_soon(watch_parent, ending)
            codes.append(await _serve(target, keeper, Host(pipes), started))
            tasks.cancel_scope.cancel()
    if keeper.settings.measure:
        tell(keeper.meter.tell())
    with anyio.move_on_after(1):
        await anyio.to_thread.run_sync(keeper.close, abandon_on_cancel=True)
    return codes[0]


async def _serve(target: Target, keeper: Keeper, host: Host, started: list[LocalServer]) -> int:
    """Relay until either end is gone. What the server has left unanswered then is answered with what happened."""
    relay = Relay(host, keeper, target.limit)
    words, code = "", 0
    try:
        async with _reach(target, started) as server:
            code = 0 if await relay.run(server) else 1
            words = await server.close()
    except* _GONE:
        code = 0
    except* (CtxfoldError, OSError) as failed:
        words, code = explain(failed), _FAILED
    if code:
        tell(words)
        with suppress(*_GONE):
            await relay.refuse_rest(words)
    return code


@asynccontextmanager
async def _reach(target: Target, started: list[LocalServer]) -> AsyncIterator[End]:
    """The server, started or connected to; one that was started has ended when this ends."""
    if target.url:
        from mcp_server.wrap.remote import connect

        async with connect(target.url, target.headers or {}) as remote:
            yield remote
        return
    local = await start(target.command, target.env or {})
    started.append(local)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(local.pass_errors)
        try:
            yield local
        finally:
            await local.end()
            tasks.cancel_scope.cancel()
