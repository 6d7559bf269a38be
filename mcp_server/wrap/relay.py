"""Passes messages between a host and a server as they are, but for long results of tools, our own tool, and what nobody can read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread

from ctxfold.errors import InputError
from mcp_server.wrap.ends import End
from mcp_server.wrap.keeper import Call, Keeper
from mcp_server.wrap.listing import Listing
from mcp_server.wrap.messages import CLOSED, INVALID, LATE, UNREADABLE, Message, answer, dump, error, read, tell

__all__ = ["Relay"]

_OWN = "ctxfold-wrap"
"""What our own requests to the server are called; no host calls one so."""
_KEEPING = 10.0
"""Seconds that keeping a result may take before it passes as it is."""
_LISTING = 5.0
"""Seconds the server has to list its tools when it is we who ask."""
_LAST = 1.0
"""Seconds that what is still being recorded has when the host is gone."""
_GARBAGE = 5
"""Unreadable lines of the server that are told of one by one."""
_PAGES = 50


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of the host that the server has not answered."""

    message: Message
    call: Call | None


class Relay:
    """One host and one server. A call of a tool is answered with an error after `limit` seconds without any sign of the server."""

    def __init__(self, host: End, keeper: Keeper, limit: float) -> None:
        self._host = host
        self._server: End
        self._keeper = keeper
        self._limit = limit
        self._listing = Listing()
        self._asked: dict[str, _Asked] = {}
        self._own: dict[str, anyio.Event] = {}
        self._pages: dict[str, dict[str, Any]] = {}
        self._timers: anyio.abc.TaskGroup
        self._heard = 0.0
        self._stuck = False
        self._garbage = 0
        self._one = anyio.CapacityLimiter(1)

    async def run(self, server: End) -> bool:
        """Pass messages until the host or the server is gone; whether it was the host that went."""
        self._server = server
        gone: list[str] = []
        async with anyio.create_task_group() as work:

            async def until(name: str, pass_on: Callable[[anyio.abc.TaskGroup], Awaitable[None]]) -> None:
                try:
                    await pass_on(work)
                finally:
                    gone.append(name)
                    both.cancel()

            with anyio.CancelScope() as both:
                async with anyio.create_task_group() as tasks:
                    self._timers = tasks
                    tasks.start_soon(until, "host", self._listen_to_host)
                    tasks.start_soon(until, "server", self._listen_to_server)
            if gone[0] == "host":
                work.cancel_scope.deadline = anyio.current_time() + _LAST
            else:
                work.cancel_scope.deadline = anyio.current_time() + _KEEPING
        return gone[0] == "host"

    async def refuse_rest(self, words: str) -> None:
        """Answer what the server left unanswered with an error."""
        for asked in list(self._asked.values()):
            await self._host.send(error(asked.message.data["id"], CLOSED, words))
        self._asked.clear()

    async def _listen_to_host(self, work: anyio.abc.TaskGroup) -> None:
        async for line in self._host.lines():
            messages = read(line)
            if messages is None:
                await self._host.send(error(None, UNREADABLE, "that line is no JSON-RPC message"))
            for message in messages or ():
                await self._take_from_host(message, work)

    async def _take_from_host(self, message: Message, work: anyio.abc.TaskGroup) -> None:
        if message.kind != "request":
            await self._pass_to_server(message)
            return
        call = _read_call(message) if message.method == "tools/call" else None
        if call is not None and call.name == self._listing.name:
            work.start_soon(self._answer_own_or_pass, message, call)
            return
        await self._ask_server(message, call)

    async def _ask_server(self, message: Message, call: Call | None) -> None:
        self._asked[message.key] = _Asked(message, call)
        await self._pass_to_server(message)
        if call is not None and message.key in self._asked:
            self._timers.start_soon(self._expire, message)

    async def _pass_to_server(self, message: Message) -> None:
        try:
            await self._server.send(message.raw)
        except InputError as refused:
            self._asked.pop(message.key, None)
            if message.kind == "request":
                await self._host.send(error(message.data["id"], INVALID, str(refused)))

    async def _answer_own_or_pass(self, message: Message, call: Call) -> None:
        """Answer a call of our tool; where the server turns out to have one of that name, it is the server's."""
        await self._ensure_listed(message)
        if call.name != self._listing.name:
            await self._ask_server(message, call)
            return
        made = await self._in_thread(lambda: self._keeper.recall(call.name, call.arguments))
        if made is None:
            await self._host.send(error(message.data["id"], CLOSED, "what was kept cannot be read now; try again"))
        else:
            await self._host.send(answer(message.data["id"], made))

    async def _listen_to_server(self, work: anyio.abc.TaskGroup) -> None:
        async for line in self._server.lines():
            self._heard = anyio.current_time()
            messages = read(line)
            if messages is None:
                self._note_garbage(line)
            for message in messages or ():
                await self._take_from_server(message, work)

    async def _take_from_server(self, message: Message, work: anyio.abc.TaskGroup) -> None:
        if message.kind != "answer":
            await self._host.send(message.raw)
            return
        number = message.data.get("id")
        if isinstance(number, str) and number in self._own:
            self._pages[number] = message.data
            self._own[number].set()
            return
        asked = self._asked.pop(message.key, None)
        result = message.data.get("result")
        if asked is None or not isinstance(result, dict):
            await self._host.send(message.raw)
        elif asked.message.method == "tools/list":
            await self._host.send(dump({**message.data, "result": self._announce(result)}))
        elif asked.call is None or "content" not in result:
            await self._host.send(message.raw)
        elif len(message.raw) <= self._keeper.settings.budget:
            await self._host.send(message.raw)
            call = asked.call
            work.start_soon(self._in_thread, lambda: self._keeper.record(call, result))
        else:
            work.start_soon(self._answer_long, message, asked, asked.call, result)

    async def _answer_long(self, message: Message, asked: _Asked, call: Call, result: dict[str, Any]) -> None:
        """Answer with a bounded result once all of it is committed; with the original where anything of ours fails."""
        await self._ensure_listed(asked.message)
        made = await self._in_thread(lambda: self._keeper.keep(call, result, self._listing))
        await self._host.send(message.raw if made is None else dump({**message.data, "result": made}))

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        """What some work of ours gives, done in a thread, one at a time; None where it fails or takes too long. It is then said, and the host's run goes on."""
        if self._stuck:
            return None
        with anyio.move_on_after(_KEEPING):
            return await anyio.to_thread.run_sync(self._try, work, abandon_on_cancel=True, limiter=self._one)
        self._stuck = True
        tell(f"keeping a result took more than {_KEEPING:g} s: results pass as they are until it is done")
        return None

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except Exception as failed:  # noqa: BLE001 - whatever fails in keeping a result, the host gets what the server said
            tell(f"a result passes as it is: {type(failed).__name__}: {' '.join(str(failed).split())[:300]}")
            return None
        finally:
            self._stuck = False

    def _announce(self, result: dict[str, Any]) -> dict[str, Any]:
        self._listing = self._listing.with_page(result)
        return self._listing.announce(result)

    async def _ensure_listed(self, message: Message) -> None:
        """Ask the server for its tools if the host has not, in the host's era; without an answer all stays as it is."""
        if self._listing.known:
            return
        given = message.params.get("_meta")
        meta = {key: value for key, value in given.items() if key != "progressToken"} if isinstance(given, dict) else {}
        cursor: dict[str, Any] = {}
        with anyio.move_on_after(_LISTING):
            for _ in range(_PAGES):
                page = await self._ask_own("tools/list", {**({"_meta": meta} if meta else {}), **cursor})
                result = page.get("result")
                if not isinstance(result, dict):
                    return
                self._listing = self._listing.with_page(result)
                if not result.get("nextCursor"):
                    return
                cursor = {"cursor": result["nextCursor"]}

    async def _ask_own(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = f"{_OWN}-{len(self._own) + 1}"
        self._own[number] = anyio.Event()
        await self._server.send(dump({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        await self._own[number].wait()
        return self._pages.pop(number)

    async def _expire(self, message: Message) -> None:
        """Answer a call with an error when the server gives no sign for too long."""
        self._heard = anyio.current_time()
        asked = self._asked.get(message.key)
        while asked is not None and self._asked.get(message.key) is asked:
            left = self._heard + self._limit - anyio.current_time()
            if left <= 0:
                del self._asked[message.key]
                number = message.data["id"]
                told = {"requestId": number, "reason": "no answer"}
                await self._server.send(dump({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": told}))
                words = f"the wrapped server gave no sign for {self._limit:g} s"
                await self._host.send(error(number, LATE, words))
                return
            await anyio.sleep(left)

    def _note_garbage(self, line: bytes) -> None:
        self._garbage += 1
        if self._garbage <= _GARBAGE:
            tell(f"the wrapped server printed a line that is no JSON-RPC message, left out: {line[:80]!r}")


def _read_call(message: Message) -> Call | None:
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        return None
    return Call(name, arguments if isinstance(arguments, dict) else {}, str(message.data["id"]))
