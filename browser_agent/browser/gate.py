"""Holds back in the browser what pages send with effects while an action of ours and its settling run, until it is agreed to."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from playwright.async_api import BrowserContext, CDPSession, Error, WebSocketRoute

from browser_agent.network.effects import Ask, Cause, Effect, Request, Trust, judge
from browser_agent.network.egress import origin_of

# The browser's own session sees what every frame, popup and worker sends, each hop of a redirect apart. It must be on before a page loads to see
# that page's requests, so it is on always, for an address that nothing asks for.


_NOTHING = ({"urlPattern": "http://nothing.invalid/"},)
_ACTING = tuple({"resourceType": kind} for kind in ("Document", "XHR", "Fetch", "Ping", "Other", "CSPViolationReport"))
"""What may have effects. Pictures, scripts, styles, fonts and media are asked for by GET alone."""

_SECONDS = 2.0
"""Seconds the browser has to answer."""


@dataclass(frozen=True, slots=True)
class Paused:
    """A request that the browser holds, by its number; `chain` has the numbers that it shares with what it was redirected from."""

    number: str
    request: Request
    chain: tuple[str, ...]


class Interception:
    """Pauses requests of the window of `context`, and hands each to `take`, while it is on."""

    def __init__(self, context: BrowserContext, take: Callable[[Paused], None]) -> None:
        self._context = context
        self._take = take
        self._session: CDPSession | None = None
        self._owners: dict[str, str] = {}
        self._own = ""
        self._passing: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Be there before the first page is. Raises playwright.async_api.Error: the browser is gone."""
        browser = self._context.browser
        if browser is None:
            raise RuntimeError("a persistent profile has no browser of its own to ask")
        self._session = await browser.new_browser_cdp_session()
        self._session.on("Fetch.requestPaused", self._paused)
        self._session.on("Target.targetCreated", self._found_target)
        await self._session.send("Target.setDiscoverTargets", {"discover": True})
        await self._send("Fetch.enable", {"patterns": list(_NOTHING)})

    async def turn(self, on: bool) -> None:
        """Turn it on or off. Raises playwright.async_api.Error, TimeoutError: the browser does not answer."""
        if not self._own:
            await asyncio.wait_for(self._find_own(), _SECONDS)
        await self._send("Fetch.enable", {"patterns": list(_ACTING if on else _NOTHING)})

    async def go(self, number: str) -> None:
        """Let a request go."""
        with suppress(Error, TimeoutError):  # its page is gone, and it with that
            await self._send("Fetch.continueRequest", {"requestId": number})

    async def drop(self, number: str) -> None:
        """Send a request nowhere; the page sees it fail, and stays."""
        with suppress(Error, TimeoutError):  # its page is gone, and it with that
            await self._send("Fetch.failRequest", {"requestId": number, "errorReason": "Aborted"})

    async def stop(self) -> None:
        """Let go of the browser. What is paused then would leave: drop it before."""
        if self._session is not None:
            with suppress(Error, TimeoutError):  # a browser that is gone sends nothing
                await asyncio.wait_for(self._session.detach(), _SECONDS)

    async def _send(self, command: str, arguments: dict[str, Any]) -> None:
        if self._session is None:
            raise RuntimeError("the interception has not been started")
        await asyncio.wait_for(self._session.send(command, arguments), _SECONDS)

    async def _find_own(self) -> None:
        """Learn by which name the browser knows this window."""
        for page in self._context.pages[:1]:
            session = await self._context.new_cdp_session(page)
            self._own = (await session.send("Target.getTargetInfo"))["targetInfo"].get("browserContextId", "")
            await session.detach()

    def _found_target(self, event: dict[str, Any]) -> None:
        """A page, frame or worker began in the browser: note whose it is."""
        found = event["targetInfo"]
        self._owners[found["targetId"]] = found.get("browserContextId", "")

    def _paused(self, event: dict[str, Any]) -> None:
        """A request was paused: one of another window goes on."""
        number = event["requestId"]
        if self._owners.get(event.get("frameId", ""), self._own) == self._own:
            chain = (number, *(event[key] for key in ("networkId", "redirectedRequestId") if key in event))
            self._take(Paused(number, _read(event), chain))
            return
        task = asyncio.ensure_future(self.go(number))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)


def _read(event: dict[str, Any]) -> Request:
    """A request as DevTools describes it."""
    said = event["request"]
    headers = {name.lower(): value for name, value in said["headers"].items()}
    return Request(
        method=said["method"],
        url=said["url"],
        kind=event["resourceType"],
        origin=headers.get("origin", ""),
        referrer=headers.get("referer", ""),
        form=headers.get("content-type", ""),
        body=said.get("postData", ""),
    )


TAIL = 5.0
"""Seconds after an action for which what a page sends counts as brought about by it: as long as browsers count it so themselves."""

_LEAVING = 1.0
"""Seconds that a page which was left has for its farewells."""

_REMEMBERED = 200

Origin = tuple[str, int]

_State = Literal["open", "acting", "leaving"]
"""Nothing is held; all of it is; only what pages that were acted on send."""


@dataclass(frozen=True, slots=True)
class _Held:
    """Something that waits, and what lets it go or drops it."""

    effect: Effect
    go: Callable[[], Coroutine[Any, Any, None]]
    drop: Callable[[], Coroutine[Any, Any, None]]


class Gate:
    """The gate of one window. `ask`: asks a person; None where nobody can be asked, and what is not trusted is then dropped at once."""

    def __init__(self, trust: Trust, ask: Ask | None = None) -> None:
        self.trust = trust
        self.ask = ask
        self._state: _State = "open"
        self._cause = Cause()
        self._refusing = False
        self._held: list[_Held] = []
        self._agreed: set[tuple[Origin, Origin | None]] = set()
        self._refused: list[Effect] = []
        self._acted_on: set[Origin | None] = set()
        self._frames: deque[tuple[str, Origin | None]] = deque(maxlen=_REMEMBERED)
        self._news = asyncio.Event()
        self._closing: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._interception: Interception | None = None
        self._context: BrowserContext | None = None

    @property
    def armed(self) -> bool:
        """Whether anything would be held now."""
        return self._state != "open"

    @property
    def held(self) -> tuple[Effect, ...]:
        """What waits for an answer."""
        return tuple(each.effect for each in self._held)

    async def attach(self, context: BrowserContext) -> None:
        """Stand before all that the pages of `context` send. It has no page yet. Raises playwright.async_api.Error: the browser is gone."""
        self._held.clear()
        self._state, self._context = "open", context
        self._interception = Interception(context, self._paused)
        await self._interception.start()
        await context.route_web_socket(re.compile(""), self._opened_socket)

    async def arm(self, cause: Cause, pages: Iterable[str]) -> None:
        """Hold back, from now on, what may have effects. `cause` is what is about to be acted on, `pages` the open frames' addresses.

        Raises:
            playwright.async_api.Error, TimeoutError: the browser does not take it, so nothing may be done.
        """
        self._begin()
        self._cause = cause
        here = {origin_of(url) for url in pages}
        self._acted_on = here if len(self._acted_on) > _REMEMBERED else self._acted_on | here
        await self._enter("acting")

    async def leave(self) -> None:
        """Hold back only what the sites of pages that were acted on send when those are left; what the page of another sends by itself is its own."""
        self._begin()
        await self._enter("open" if all(map(self.trust.trusts, self._acted_on)) else "leaving")

    def rest(self) -> None:
        """An action is over: hold back a while longer what comes late."""
        if self._closing is not None:
            self._closing.cancel()
        if self._state != "open":
            seconds = TAIL if self._state == "acting" else _LEAVING
            self._closing = asyncio.get_running_loop().call_later(seconds, self._disarm)

    async def wait(self, work: asyncio.Task[Any]) -> None:
        """Wait until something is held, or `work` is done."""
        self._news.clear()
        if self._held or work.done():
            return
        news = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait({news, work}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    async def answer(self, agreed: bool) -> None:
        """Let go what is held, and what else this action makes its frames send to the same places; or drop it, and what else comes of this action."""
        held, self._held = self._held, []
        self._refusing = not agreed
        for each in held:
            if not agreed:
                self._refused.append(each.effect)
            elif each.effect.frame is not None:
                self._agreed.add((each.effect.frame, each.effect.target))
        for each in held:
            await (each.go() if agreed else each.drop())

    def take_refused(self) -> tuple[Effect, ...]:
        """What was dropped since this was last asked."""
        refused, self._refused = tuple(self._refused), []
        return refused

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        """Drop what is held, and what pages that were acted on send as their window is closed in this block.

        Where they are trusted we let go of the browser before: a request that merely passes by us as its window goes is
        lost. Else a second after, since a farewell may reach the browser late, and what is paused as we let go is sent.
        """
        self.ask = None
        await self.answer(False)
        with suppress(Error, TimeoutError):  # a browser that is gone sends nothing
            await self.leave()
        interception = self._interception
        if interception is None:
            raise RuntimeError("the gate has been attached to no window")
        if not self.armed:
            await interception.stop()
        try:
            yield
        finally:
            if self.armed:
                asyncio.get_running_loop().call_later(_LEAVING, lambda: self._spawn(interception.stop()))

    async def _enter(self, state: _State) -> None:
        if self._closing is not None:
            self._closing.cancel()
        if self._interception is None:
            raise RuntimeError("the gate has been attached to no window")
        was, self._state = self.armed, state
        if was != self.armed:
            await self._interception.turn(self.armed)

    def _disarm(self) -> None:
        if self._state == "leaving":
            self._acted_on.clear()
        self._spawn(self._enter("open"))

    def _paused(self, paused: Paused) -> None:
        """The browser holds a request: judge it."""
        interception = self._interception
        if interception is None:
            raise RuntimeError("the gate has been attached to no window")
        effect = judge(paused.request, self._cause) if self.armed else None
        if effect is None:
            self._spawn(interception.go(paused.number))
            return
        begun = [frame for number, frame in reversed(self._frames) if number in paused.chain]
        if begun:  # a redirect: the frame that began it, whatever the hop says
            effect = replace(effect, frame=begun[0])

        def note() -> None:
            self._frames.extend((number, effect.frame) for number in paused.chain)

        async def go() -> None:
            note()
            await interception.go(paused.number)

        if self._may_go(effect):
            self._spawn(go())
        else:
            self._hold(_Held(effect, go, lambda: interception.drop(paused.number)))

    def _begin(self) -> None:
        """An action begins: what was said of the one before holds no more."""
        self._refusing = False
        self._agreed.clear()

    def _covers(self, effect: Effect) -> bool:
        """Whether this may be sent unasked."""
        return (effect.frame, effect.target) in self._agreed or self.trust.trusts(effect.frame)

    def _may_go(self, effect: Effect) -> bool:
        if self._covers(effect):
            return True
        if self._state != "leaving":
            return False
        if effect.method == "GET":
            return True  # that is the page we go to
        return effect.frame is not None and effect.frame not in self._acted_on

    def _hold(self, held: _Held) -> None:
        if self.ask is None or self._refusing:
            self._refused.append(held.effect)
            self._spawn(held.drop())
        else:
            self._held.append(held)
        self._news.set()

    def _opened_socket(self, route: WebSocketRoute) -> None:
        """A page opened a WebSocket: what it sends there passes by here. Nobody says which frame it is of, so all must be trusted."""
        server = route.connect_to_server()

        async def drop() -> None:
            """Send nothing."""

        def said(message: str | bytes) -> None:
            async def go() -> None:
                server.send(message)

            effect = Effect("WEBSOCKET", route.url, None, cause=self._cause)
            doubted = [each for each in self._frames_for(effect) if not self._covers(each)]
            waiting = any(each.effect.url == route.url for each in self._held)
            if self.armed and (doubted or waiting):
                self._hold(_Held(doubted[0] if doubted else effect, go, drop))
            else:
                server.send(message)

        route.on_message(said)

    def _frames_for(self, effect: Effect) -> list[Effect]:
        """`effect`, from each origin that a frame of this window has; one such as `about:blank` has its parent's."""
        pages = self._context.pages if self._context is not None else []
        urls = [frame.url for page in pages for frame in page.frames if not frame.url.startswith("about:")]
        return [replace(effect, frame=origin) for origin in dict.fromkeys(map(origin_of, filter(None, urls)))]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            with suppress(Error, TimeoutError):  # the browser is gone: nothing is sent any more
                await work

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
