"""Serves over stdio until the host closes standard input, a signal asks to end, or the parent process is gone.

Left alone the SDK dies of SIGTERM without cleaning up and sleeps through SIGINT until stdin closes, because the thread that reads stdin can't be
woken. So the process is ended here, after the pools are closed, or without that when it takes too long: all is committed, nothing is lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import NoReturn, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from mcp_server.server import CtxfoldServer
from mcp_server.sessions.pool import Pools
from mcp_server.transport.ending import Ending, end_soon, leave, watch_parent
from mcp_server.transport.pipes import Pipes
from mcp_server.transport.wire import refuse_line

__all__ = ["run_stdio"]

_CLOSING = 1.0
"""Seconds for closing what is open."""


def run_stdio(pools: Pools, server: CtxfoldServer, pipes: Pipes) -> NoReturn:
    """Serve one host over its pipes, then end the process: 0 when the host closed stdin or is gone, 128 + n after signal n."""
    anyio.run(_serve, pools, server, pipes)
    raise AssertionError("the process ends inside")


async def _serve(pools: Pools, server: CtxfoldServer, pipes: Pipes) -> None:
    ending = Ending()
    with ending.on_signals():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_answer_host, server, pipes, ending)
            tasks.start_soon(watch_parent, ending)
            code = await ending.wait()
            with anyio.move_on_after(_CLOSING):
                await pools.close()
            leave(code)


async def _answer_host(server: CtxfoldServer, pipes: Pipes, ending: Ending) -> None:
    """Answer the host until it closes its end; a pipe that breaks says the same as one that ends."""
    text = anyio.wrap_file(TextIOWrapper(pipes.reader, encoding="utf-8", errors="replace"))
    reader = _Lines(text, partial(end_soon, 0))
    writer = anyio.wrap_file(TextIOWrapper(pipes.writer, encoding="utf-8", newline="\n"))
    try:
        async with stdio_server(cast("anyio.AsyncFile[str]", reader), writer) as (incoming, outgoing):
            reader.answer = outgoing.send
            await server.run_between(incoming, outgoing)
    except* (BrokenPipeError, ConnectionResetError):
        ending.begin(0)
    ending.begin(0)


class _Lines:
    """The lines of a stream that are messages, all that the SDK asks of its input. What is none is answered here, through `answer`.

    `ended` is called at the end of the stream, while calls under way are still being ended.
    """

    def __init__(self, file: anyio.AsyncFile[str], ended: Callable[[], None]) -> None:
        self._file = file
        self._ended = ended
        self.answer: Callable[[SessionMessage], Awaitable[None]] | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            refused = refuse_line(line)
            if refused is None:
                yield line
            elif self.answer is not None:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it is ending: nobody is answered
                    await self.answer(SessionMessage(refused))
        self._ended()
