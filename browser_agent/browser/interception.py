"""Has the browser pause requests of one window before they leave, through DevTools' `Fetch`."""

# The browser's own session sees what every frame, popup and worker sends, each hop of a redirect apart. It must be on before a page loads to see
# that page's requests, so it is on always, for an address that nothing asks for.

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Error

from browser_agent.network.effects import Request

__all__ = ["Interception", "Paused"]

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
