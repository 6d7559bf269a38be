"""Holds back in the browser the requests with effects that an action makes a page send, until a person agrees."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from playwright.async_api import BrowserContext, CDPSession, Error, WebSocketRoute

from browser_agent.network.effects import Ask, Cause, Effect, PageRequest, Trust, judge
from browser_agent.network.egress import Origin, origin_of

# The browser's own session sees what every frame, popup and worker sends, each hop of a redirect apart. It must be on
# before a page loads to see that page's requests, so it is on always, for an address that nothing asks for.
_NOTHING = ({"urlPattern": "http://nothing.invalid/"},)
_ACTING = tuple({"resourceType": kind} for kind in ("Document", "XHR", "Fetch", "Ping", "Other", "CSPViolationReport"))
"""What may have effects. Pictures, scripts, styles, fonts and media are asked for by GET alone."""
_ANSWER_SECONDS = 2.0
"""Seconds the browser has to answer."""
TAIL = 5.0
"""Seconds after an action in which a request counts as caused by it: as long as browsers count it so themselves."""
_LEAVING = 1.0
"""Seconds in which a page that was left may still send something."""
_REMEMBERED = 200

_State = Literal["open", "acting", "leaving"]
"""Nothing is held; all of it is; only what pages that were acted on send."""

_TASKS: set[asyncio.Task[None]] = set()


def _spawn(work: Coroutine[Any, Any, None]) -> None:
    """Run work in a task of its own, and ignore that a page or browser is gone meanwhile."""

    async def run() -> None:
        with suppress(Error, TimeoutError):  # the page or the browser is gone: nothing is sent any more
            await work

    task = asyncio.ensure_future(run())
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


class Interception:
    """Pauses requests of the window of `context` while it is on.

    `take` gets each with its number and its chain: this number, and those of the requests before its redirects.
    """

    _session: CDPSession

    def __init__(self, context: BrowserContext, take: Callable[[PageRequest, str, tuple[str, ...]], None]) -> None:
        self._context = context
        self._take = take
        self._owners: dict[str, str] = {}
        self._own = ""

    async def start(self) -> None:
        """Be there before the first page is. Raises playwright.async_api.Error: the browser is gone."""
        assert self._context.browser is not None  # only a persistent profile has none
        self._session = await self._context.browser.new_browser_cdp_session()
        self._session.on("Fetch.requestPaused", self._on_paused)
        self._session.on("Target.targetCreated", self._on_target)
        await self._session.send("Target.setDiscoverTargets", {"discover": True})
        await self._send("Fetch.enable", {"patterns": list(_NOTHING)})

    async def turn(self, on: bool) -> None:
        """Turn it on or off. Raises playwright.async_api.Error, TimeoutError: the browser does not answer."""
        if not self._own:
            await asyncio.wait_for(self._find_own(), _ANSWER_SECONDS)
        await self._send("Fetch.enable", {"patterns": list(_ACTING if on else _NOTHING)})

    async def go(self, number: str) -> None:
        """Let a request go."""
        await self._send("Fetch.continueRequest", {"requestId": number})

    async def drop(self, number: str) -> None:
        """Send a request nowhere; the page sees it fail, and stays."""
        await self._send("Fetch.failRequest", {"requestId": number, "errorReason": "Aborted"})

    async def stop(self) -> None:
        """Let go of the browser. What is paused then would leave: drop it before."""
        with suppress(Error, TimeoutError):  # a browser that is gone sends nothing
            await asyncio.wait_for(self._session.detach(), _ANSWER_SECONDS)

    async def _send(self, command: str, arguments: dict[str, Any]) -> None:
        await asyncio.wait_for(self._session.send(command, arguments), _ANSWER_SECONDS)

    async def _find_own(self) -> None:
        """Learn by which name the browser knows this window."""
        for page in self._context.pages[:1]:
            session = await self._context.new_cdp_session(page)
            self._own = (await session.send("Target.getTargetInfo"))["targetInfo"].get("browserContextId", "")
            await session.detach()

    def _on_target(self, event: dict[str, Any]) -> None:
        """Note which window a new page, frame or worker belongs to."""
        target = event["targetInfo"]
        self._owners[target["targetId"]] = target.get("browserContextId", "")

    def _on_paused(self, event: dict[str, Any]) -> None:
        """Hand on a request that was paused; let one of another window go."""
        number, request = event["requestId"], event["request"]
        if self._owners.get(event.get("frameId", ""), self._own) != self._own:
            _spawn(self.go(number))
            return
        headers = {name.lower(): value for name, value in request["headers"].items()}
        chain = (number, *(event[key] for key in ("networkId", "redirectedRequestId") if key in event))
        sent = PageRequest(
            method=request["method"],
            url=request["url"],
            kind=event["resourceType"],
            origin=headers.get("origin", ""),
            referrer=headers.get("referer", ""),
            form=headers.get("content-type", ""),
            body=request.get("postData", ""),
        )
        self._take(sent, number, chain)


@dataclass(frozen=True, slots=True)
class _Held:
    """Something that waits, and what lets it go or drops it."""

    effect: Effect
    go: Callable[[], Coroutine[Any, Any, None]]
    drop: Callable[[], Coroutine[Any, Any, None]]


class Gate:
    """The gate of one window.

    `ask` asks a person; None where nobody can be asked: then requests of untrusted sites are dropped at once.
    """

    _context: BrowserContext
    _interception: Interception

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

    @property
    def armed(self) -> bool:
        """Whether anything would be held now."""
        return self._state != "open"

    @property
    def held(self) -> tuple[Effect, ...]:
        """The effects that wait for an answer."""
        return tuple(held.effect for held in self._held)

    async def attach(self, context: BrowserContext) -> None:
        """Guard all that the pages of `context` send. It has no page yet.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        self._held.clear()
        self._state, self._context = "open", context
        interception = Interception(context, self._judge)
        await interception.start()
        self._interception = interception
        await context.route_web_socket(re.compile(""), self._on_socket)

    async def arm(self, cause: Cause, pages: Iterable[str]) -> None:
        """Hold back, from now on, what may have effects.

        Args:
            cause: the element that is about to be acted on.
            pages: the addresses of the open frames.

        Raises:
            playwright.async_api.Error, TimeoutError: the browser does not take it, so nothing may be done.
        """
        self._cause = cause
        origins = {origin_of(url) for url in pages}
        self._acted_on = origins if len(self._acted_on) > _REMEMBERED else self._acted_on | origins
        await self._enter("acting")

    async def leave(self) -> None:
        """Hold back only what pages that were acted on send as they are left. Any other page acts on its own."""
        await self._enter("open" if all(map(self.trust.trusts, self._acted_on)) else "leaving")

    def rest(self) -> None:
        """Hold back a while longer what comes late: an action is over."""
        if self._closing is not None:
            self._closing.cancel()
        if self.armed:
            seconds = TAIL if self._state == "acting" else _LEAVING
            self._closing = asyncio.get_running_loop().call_later(seconds, self._disarm)

    async def wait(self, work: asyncio.Future[Any]) -> None:
        """Wait until something is held, or `work` is done."""
        self._news.clear()
        if not (self._held or work.done()):
            work.add_done_callback(lambda _: self._news.set())
            await self._news.wait()

    async def answer(self, agreed: bool, shown: Collection[Effect] = ()) -> None:
        """Let the requests go that a person was asked about, with others of this action from there to the same places,
        and hold the rest; or drop them all.
        """
        self._refusing = not agreed
        if agreed:
            self._agreed |= {(effect.frame, effect.target) for effect in shown if effect.frame is not None}
            answered = [held for held in self._held if held.effect in shown or self._is_agreed(held.effect)]
        else:
            answered = self._held
            self._refused += [held.effect for held in answered]
        self._held = [held for held in self._held if held not in answered]
        for held in answered:
            with suppress(Error, TimeoutError):  # its page is gone, and it with that
                await (held.go() if agreed else held.drop())

    def take_refused(self) -> tuple[Effect, ...]:
        """Return the effects that were dropped since the last call."""
        refused, self._refused = tuple(self._refused), []
        return refused

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        """Drop the held requests, and those that pages which were acted on send as this block closes their window.

        Where they are trusted we let go of the browser before: a request that merely passes by us as its window goes is
        lost. Else a second after: a farewell may reach the browser late, and a request that is paused as we let go is
        sent.
        """
        self.ask = None
        await self.answer(False)
        with suppress(Error, TimeoutError):  # a browser that is gone sends nothing
            await self.leave()
        interception = self._interception
        if not self.armed:
            await interception.stop()
        try:
            yield
        finally:
            if self.armed:
                asyncio.get_running_loop().call_later(_LEAVING, lambda: _spawn(interception.stop()))

    async def _enter(self, state: _State) -> None:
        """Change the state, forget the answers of the one before, and turn the interception on or off with it."""
        self._refusing = False
        self._agreed.clear()
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        was, self._state = self.armed, state
        if was != self.armed:
            await self._interception.turn(self.armed)

    def _disarm(self) -> None:
        _spawn(self._end_tail(self._closing))

    async def _end_tail(self, tail: asyncio.TimerHandle | None) -> None:
        """Open the gate when the tail of an action is over, unless the next action has begun since."""
        if self._closing is tail:
            if self._state == "leaving":
                self._acted_on.clear()
            await self._enter("open")

    def _judge(self, request: PageRequest, number: str, chain: tuple[str, ...]) -> None:
        """Let a request go that the browser holds, or hold its effect."""
        interception = self._interception
        effect = judge(request, self._cause) if self.armed else None
        if effect is None:
            _spawn(interception.go(number))
            return
        begun = [frame for hop, frame in reversed(self._frames) if hop in chain]
        if begun:  # a redirect: the frame that began it, whatever the hop says
            effect = replace(effect, frame=begun[0])

        async def go() -> None:
            self._frames.extend((hop, effect.frame) for hop in chain)
            await interception.go(number)

        if self._may_go(effect):
            _spawn(go())
        else:
            self._hold(_Held(effect, go, lambda: interception.drop(number)))

    def _is_agreed(self, effect: Effect) -> bool:
        """Return whether an effect may be sent unasked."""
        return (effect.frame, effect.target) in self._agreed or self.trust.trusts(effect.frame)

    def _may_go(self, effect: Effect) -> bool:
        """Return whether an effect may be sent in the present state without asking."""
        if self._is_agreed(effect) or self._state != "leaving":
            return self._is_agreed(effect)
        if effect.method == "GET":
            return True  # that is the page we go to
        return effect.frame is not None and effect.frame not in self._acted_on

    def _hold(self, held: _Held) -> None:
        """Keep an effect until it is answered; drop it if nobody can be asked or the answer was no."""
        if self.ask is None or self._refusing:
            self._refused.append(held.effect)
            _spawn(held.drop())
        else:
            self._held.append(held)
        self._news.set()

    def _on_socket(self, route: WebSocketRoute) -> None:
        """Pass on or hold the messages of a page to a WebSocket. All frames must be trusted: the sender is unknown."""
        server = route.connect_to_server()

        async def drop() -> None:
            """Send nothing."""

        def pass_on(message: str | bytes) -> None:
            async def go() -> None:
                server.send(message)

            effect = Effect("WEBSOCKET", route.url, None, cause=self._cause)
            doubted = [sender for sender in self._find_senders(effect) if not self._is_agreed(sender)]
            waiting = any(held.effect.url == route.url for held in self._held)
            if self.armed and (doubted or waiting):
                self._hold(_Held(doubted[0] if doubted else effect, go, drop))
            else:
                server.send(message)

        route.on_message(pass_on)

    def _find_senders(self, effect: Effect) -> list[Effect]:
        """`effect`, from each origin that a frame of this window has; one such as `about:blank` has its parent's."""
        urls = [frame.url for page in self._context.pages for frame in page.frames]
        origins = dict.fromkeys(origin_of(url) for url in urls if url and not url.startswith("about:"))
        return [replace(effect, frame=origin) for origin in origins]
