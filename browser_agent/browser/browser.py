"""Starts a browser, opens windows in it, starts it again when it dies, traces a window, and ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import anyio
from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Error, Page, ViewportSize

from browser_agent.browser.gate import Gate
from browser_agent.browser.limits import LIMITS, Folders, WindowSettings, measure_pace
from browser_agent.browser.process import (
    BrowserProcess,
    LaunchPlan,
    Report,
    end_browser,
    proxy_settings,
    start_browser,
)
from browser_agent.browser.window import Window
from browser_agent.network.egress import Egress, FilterProxy
from browser_agent.network.secrets import Secrets
from browser_agent.observation import BUDGET
from ctxfold.errors import BrowserGone, InputError
from ctxfold.tokens import count

_REVIVE_SECONDS = 30.0
"""Seconds that a browser which died has to start again."""
_OPEN_SHADOW = """(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: 'open' }); };
})()"""
"""Opens every shadow root: one that is closed to scripts is closed to us too."""
_ANY_TEXT = "text"
_SIZE: ViewportSize = {"width": 1280, "height": 720}


class Browser:
    """One browser, for as long as its `async with` block. Windows of it share nothing with each other."""

    def __init__(self, plan: LaunchPlan, running: BrowserProcess, report: Report, proxy: FilterProxy | None) -> None:
        self._plan = plan
        self._running = running
        self._limits = LIMITS
        self._report = report
        self._proxy = proxy
        self._reviving = asyncio.Lock()

    @classmethod
    async def launch(
        cls,
        *,
        headed: bool = False,
        executable: Path | None = None,
        egress: Egress | None = None,
        report: Report = lambda _: None,
    ) -> Browser:
        """Start a browser of our own.

        Args:
            headed: show it.
            executable: the one to start; None finds one, or provides one.
            egress: where it may connect; None lets it connect anywhere.
            report: called with one line for each thing that is done, such as a sandbox that is off.

        Raises:
            BrowserMissing: no browser could be found, provided or started.
        """
        return await cls.start(LaunchPlan(headed, executable), egress, report)

    @classmethod
    async def connect(cls, endpoint: str, *, egress: Egress | None = None, report: Report = lambda _: None) -> Browser:
        """Use a browser that is running already, and leave it running.

        Args:
            endpoint: its DevTools address (`http://host:port` or `ws://…/devtools/…`) or a Playwright server's `ws://`.
            egress: where our windows may connect; the browser must then be on this machine. None lets them anywhere.
            report: called with one line for each thing that is done.

        Raises:
            InputError: the endpoint is not such an address.
            BrowserGone: nothing answers there.
        """
        return await cls.start(LaunchPlan(endpoint=endpoint), egress, report)

    @classmethod
    async def start(cls, plan: LaunchPlan, egress: Egress | None, report: Report) -> Browser:
        """Return a browser by a plan, with its proxy, as `launch` or `connect` does. If anything fails, everything that
        was started ends.
        """
        endpoint = plan.endpoint
        if endpoint is not None and not endpoint.startswith(("http://", "https://", "ws://", "wss://")):
            raise InputError(f"{endpoint!r} is not a browser endpoint; give http://host:port or ws://host:port/…")
        proxy = FilterProxy(egress) if egress is not None else None
        async with AsyncExitStack() as undo:
            if proxy is not None:
                await proxy.start()
                plan = replace(plan, proxy=proxy.address)
                undo.push_async_callback(proxy.close)
            ranks = asyncio.ensure_future(asyncio.to_thread(count, _ANY_TEXT))  # load while the browser starts
            undo.callback(ranks.cancel)
            started = cls(plan, await start_browser(plan, report), report, proxy)
            undo.push_async_callback(started.end)
            await ranks
            started._limits = LIMITS.at_pace(await measure_pace())
            undo.pop_all()
        return started

    @property
    def executable(self) -> Path | None:
        """The browser that runs; None for one we connected to."""
        return self._running.executable

    def permit(self, url: str) -> None:
        """Allow the origin of an address that a person gave, private or not. Raises InputError: not a web address."""
        if self._proxy is not None:
            self._proxy.permit(url)

    async def window(
        self,
        *,
        storage_state: Path | None = None,
        folders: Folders | None = None,
        budget: int = BUDGET,
        secrets: Secrets | None = None,
        gate: Gate | None = None,
    ) -> Window:
        """Open a window: a fresh profile of its own, with one empty tab.

        Args:
            storage_state: cookies and local storage to begin with, as Playwright saves them.
            folders: where downloads go and uploads may come from; None keeps downloads until the browser is closed, and
                uploads nothing.
            budget: the most one observation may cost, in o200k tokens.
            secrets: typed by placeholder, each into its own domain, and scrubbed from all that is seen.
            gate: holds back requests with effects; None lets all go that may leave the browser.

        Raises:
            InputError: the storage state cannot be used.
            BrowserGone: the browser has ended.
        """
        died = self._running.chromium
        try:
            context, page = await self._open(gate, storage_state)
        except BrowserGone:
            if self._plan.endpoint:
                raise
            context, page = await self._revive(gate, died, storage_state)
        used = folders or Folders(self._running.folder / "downloads")
        settings = WindowSettings(used, budget, secrets or Secrets(), self._limits, gate=gate)
        return Window(context, page, settings, partial(self._revive, gate, storage_state=storage_state), self._proxy)

    async def _open(self, gate: Gate | None, storage_state: Path | None = None) -> tuple[BrowserContext, Page]:
        """Open a profile with its gate, and a tab in it. Raises InputError: bad storage state; BrowserGone."""
        gone = "the browser is gone; start again"
        try:
            context = await self._running.chromium.new_context(
                viewport=_SIZE,
                accept_downloads=True,
                storage_state=storage_state,
                proxy=proxy_settings(self._plan.proxy) if self._plan.endpoint else None,
            )
        except (Error, OSError, ValueError) as error:
            if storage_state is not None and self._running.chromium.is_connected():
                raise InputError(
                    f"{str(storage_state)!r} is not a storage state that can be read; save one first"
                ) from error
            raise BrowserGone(gone) from error
        try:
            await context.add_init_script(_OPEN_SHADOW)
            if gate is not None:
                await gate.attach(context)
            return context, await context.new_page()
        except Error as error:
            raise BrowserGone(gone) from error

    async def _revive(
        self, gate: Gate | None, lost: Chromium | None, storage_state: Path | None = None
    ) -> tuple[BrowserContext, Page]:
        """Start a new browser for a `lost` one, unless another window did so already, and open a tab there."""
        async with self._reviving:
            if lost is self._running.chromium or lost is None:
                self._report("the browser died; starting it again")
                await end_browser(self._running, ask=False)
                try:
                    self._running = await asyncio.wait_for(start_browser(self._plan, self._report), _REVIVE_SECONDS)
                except TimeoutError as error:
                    raise BrowserGone("the browser died and did not come back; run again to go on from here") from error
            return await self._open(gate, storage_state)

    async def close(self) -> None:
        """End the browser, if it is ours, and remove its folders. Calling it again does nothing."""
        await self._finish(end_browser(self._running, ask=True))

    async def end(self) -> None:
        """End the browser at once, without asking it; the work of its pages is lost. One we connected to lives on."""
        await self._finish(end_browser(self._running, ask=False))

    async def _finish(self, ending: Coroutine[Any, Any, None]) -> None:
        """End the browser, then its proxy. A cancelled caller still waits: else the driver would be left running."""

        async def finish() -> None:
            try:
                await ending
            finally:
                if self._proxy is not None:
                    await self._proxy.close()

        task = asyncio.ensure_future(finish())
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await asyncio.wait({task})
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()


_TRACE_SECONDS = 20.0
"""Seconds in which a trace must be written."""


@asynccontextmanager
async def trace(window: Window, path: Path, report: Report) -> AsyncIterator[None]:
    """Trace a window, and write a file for `playwright show-trace` at the end of the block, however it ends.

    It lacks the part of a browser that died meanwhile.
    """
    await window.page.context.tracing.start(screenshots=True, snapshots=True)
    try:
        yield
    finally:
        with anyio.move_on_after(_TRACE_SECONDS, shield=True) as writing:
            try:
                await window.page.context.tracing.stop(path=path)
            except Error:
                report("there is no trace: the browser died, and what it had traced went with it")
        if writing.cancelled_caught:
            report(f"there is no trace: the browser did not hand it over within {_TRACE_SECONDS:g} s")
