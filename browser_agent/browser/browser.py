"""`Browser`, which starts a browser, opens windows, restarts it when it dies and ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Error, Page, ViewportSize

from browser_agent.browser.gate import Gate
from browser_agent.browser.limits import LIMITS, Folders, WindowSettings, measure_pace
from browser_agent.browser.process import (
    BrowserProcess,
    Plan,
    Report,
    kill_browser,
    proxy_settings,
    start_browser,
    stop_browser,
)
from browser_agent.browser.window import Window
from browser_agent.network.egress import Egress, FilterProxy, Refusal
from browser_agent.network.secrets import Secrets
from browser_agent.observation import BUDGET
from ctxfold.errors import BrowserGone, InputError
from ctxfold.tokens import count

_REVIVE_SECONDS = 30.0
_OPEN_SHADOW = """(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: 'open' }); };
})()"""
"""A component that closes its shadow root to scripts closes it to us too: nothing in it could be read or addressed."""
_ANY_TEXT = "text"
_SIZE: ViewportSize = {"width": 1280, "height": 720}


def _silent(_: str) -> None:
    """Say nothing."""


async def _start_proxy(egress: Egress | None) -> FilterProxy | None:
    if egress is None:
        return None
    proxy = FilterProxy(egress)
    await proxy.start()
    return proxy


class Browser:
    """One browser, for as long as its `async with` block. Windows of it share nothing with each other."""

    def __init__(self, plan: Plan, running: BrowserProcess, report: Report, proxy: FilterProxy | None = None) -> None:
        self._plan = plan
        self._running = running
        self._report = report
        self._proxy = proxy
        self._reviving = asyncio.Lock()
        self._limits = LIMITS

    @classmethod
    async def launch(
        cls,
        *,
        headed: bool = False,
        executable: Path | None = None,
        egress: Egress | None = None,
        report: Report = _silent,
    ) -> Browser:
        """Start a browser of our own.

        Args:
            headed: show it.
            executable: the one to start; None finds one, or provides one.
            egress: where it may connect; None lets it connect anywhere.
            report: told in one line each thing that is done, such as a sandbox that is off.

        Raises:
            BrowserMissing: no browser could be found, provided or started.
        """
        proxy = await _start_proxy(egress)
        plan = Plan(headed=headed, executable=executable, proxy=proxy.address if proxy else None)
        ready = asyncio.ensure_future(
            asyncio.to_thread(count, _ANY_TEXT)
        )  # loads the token ranks while the browser starts
        try:
            browser = await cls._start(plan, report, proxy)
        except BaseException:
            ready.cancel()
            raise
        try:
            await ready
        except BaseException:  # it is not wanted any more: nobody else knows of it
            await browser.end()
            raise
        return browser

    @classmethod
    async def connect(cls, endpoint: str, *, egress: Egress | None = None, report: Report = _silent) -> Browser:
        """Use a browser that is running already, and leave it running.

        Args:
            endpoint: its DevTools address (`http://host:port` or `ws://…/devtools/…`) or a Playwright server's `ws://`.
            egress: where our windows may connect; the browser must then be on this machine. None lets them anywhere.
            report: told in one line each thing that is done.

        Raises:
            InputError: the endpoint is no such address.
            BrowserGone: nothing answers there.
        """
        if not endpoint.startswith(("http://", "https://", "ws://", "wss://")):
            raise InputError(f"{endpoint!r} is no browser endpoint; give http://host:port or ws://host:port/…")
        proxy = await _start_proxy(egress)
        plan = Plan(endpoint=endpoint, proxy=proxy.address if proxy else None)
        return await cls._start(plan, report, proxy)

    @classmethod
    async def _start(cls, plan: Plan, report: Report, proxy: FilterProxy | None) -> Browser:
        """A browser by a plan; where none comes, its proxy goes too."""
        try:
            started = cls(plan, await start_browser(plan, report), report, proxy)
        except BaseException:
            if proxy is not None:
                await proxy.close()
            raise
        started._limits = LIMITS.at_pace(await measure_pace())
        return started

    @property
    def executable(self) -> Path | None:
        """The browser that runs; None for one we connected to."""
        return self._running.executable

    def permit(self, url: str) -> None:
        """Allow the origin of `url`, such as that of an address a person gave to start from, private or not. Raises InputError: it is no web address."""
        if self._proxy is not None:
            self._proxy.permit(url)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The latest connections that were refused; their hosts are what pages asked for."""
        return tuple(self._proxy.refusals) if self._proxy is not None else ()

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
            secrets: what may be typed by placeholder, each into its own domain, and is scrubbed from all that is seen; None for none yet.
            gate: holds back what pages send with effects; None lets everything go that may leave the browser.

        Raises:
            InputError: the storage state cannot be used.
            BrowserGone: the browser is no longer there.
        """
        died = self._running.chromium
        try:
            context, page = await self._open(gate, storage_state)
        except BrowserGone:
            if self._plan.endpoint:
                raise
            context, page = await self._revive(gate, died, storage_state)
        kept = folders or Folders(self._running.folder / "downloads")
        settings = WindowSettings(kept, budget, secrets or Secrets(), self._limits, gate=gate)
        return Window(context, page, settings, partial(self._revive, gate, storage_state=storage_state), self._proxy)

    async def _open(self, gate: Gate | None, storage_state: Path | None = None) -> tuple[BrowserContext, Page]:
        try:
            context = await self._running.chromium.new_context(
                viewport=_SIZE,
                accept_downloads=True,
                storage_state=storage_state,
                proxy=proxy_settings(self._plan.proxy) if self._plan.endpoint else None,
            )
            await context.add_init_script(_OPEN_SHADOW)
            if gate is not None:
                await gate.attach(context)
            return context, await context.new_page()
        except (Error, OSError, ValueError) as error:
            if storage_state is not None and self._running.chromium.is_connected():
                raise InputError(
                    f"{str(storage_state)!r} is no storage state that can be read; save one first"
                ) from error
            raise BrowserGone("the browser is gone; start again") from error

    async def _revive(
        self, gate: Gate | None, lost: Chromium | None, storage_state: Path | None = None
    ) -> tuple[BrowserContext, Page]:
        """Put a new browser in the place of `lost`, unless another window did so already, and open a tab there."""
        async with self._reviving:
            if lost is self._running.chromium or lost is None:
                self._report("the browser died; starting it again")
                await kill_browser(self._running)
                try:
                    self._running = await asyncio.wait_for(start_browser(self._plan, self._report), _REVIVE_SECONDS)
                except TimeoutError as error:
                    raise BrowserGone("the browser died and did not come back; run again to go on from here") from error
            return await self._open(gate, storage_state)

    async def close(self) -> None:
        """End the browser, if it is ours, and remove its folders. Calling it again does nothing."""
        await self._finish(stop_browser(self._running))

    async def end(self) -> None:
        """End the browser at once, without asking it; what its pages were doing is lost. One we connected to lives on."""
        await self._finish(kill_browser(self._running))

    async def _finish(self, ending: Coroutine[Any, Any, None]) -> None:
        """See the browser to its end, then the proxy: whoever is cancelled meanwhile still waits, else its driver would be left behind."""

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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


_SECONDS = 20.0


@asynccontextmanager
async def traced(window: Window, path: Path, report: Report) -> AsyncIterator[None]:
    """Trace a window, and write that to a file at the end of the block, however it ends; what a browser that died had done is not in it. `playwright show-trace` opens it."""
    await window.page.context.tracing.start(screenshots=True, snapshots=True)
    try:
        yield
    finally:
        with anyio.move_on_after(_SECONDS, shield=True) as writing:
            try:
                await window.page.context.tracing.stop(path=path)
            except Error:
                report("there is no trace: the browser died, and what it had traced went with it")
        if writing.cancelled_caught:
            report(f"there is no trace: the browser did not hand it over within {_SECONDS:g} s")
