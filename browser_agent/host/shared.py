"""One browser for all pages of a host: started for the first, ended with the last."""

from __future__ import annotations

import asyncio

import anyio

from browser_agent.agent.settings import BrowserChoice
from browser_agent.browser.browser import Browser
from browser_agent.browser.gate import Gate
from browser_agent.browser.settings import Folders
from browser_agent.browser.window import Window
from browser_agent.network.egress import Egress
from browser_agent.network.secrets import Secrets

__all__ = ["SharedBrowser"]


class SharedBrowser:
    """A browser whose windows share nothing but its process."""

    def __init__(self, choice: BrowserChoice, rule: Egress) -> None:
        self._choice = choice
        self._rule = rule
        self._browser: Browser | None = None
        self._windows: set[Window] = set()
        self._lock = asyncio.Lock()

    async def open(self, folders: Folders, budget: int, secrets: Secrets, gate: Gate | None) -> Window:
        """Open a window; start the browser where none runs. Raises BrowserError: there is no browser; InputError: the storage state cannot be used."""
        async with self._lock:
            choice = self._choice
            if self._browser is None:
                self._browser = await Browser.launch(
                    headed=choice.headed, executable=choice.executable, egress=self._rule
                )
            try:
                window = await self._browser.window(
                    storage_state=choice.storage_state, folders=folders, budget=budget, secrets=secrets, gate=gate
                )
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._end_if_unused()
                raise
            self._windows.add(window)
            return window

    def permit(self, url: str) -> None:
        """Let the browser reach the origin of `url`, private or not."""
        if self._browser is not None:
            self._browser.permit(url)

    async def close(self, window: Window) -> None:
        """Close a window, and end the browser at once with the last."""
        async with self._lock:
            self._windows.discard(window)
            if self._windows:
                await window.close()
            await self._end_if_unused()

    async def end(self) -> None:
        """Close every window and end the browser at once."""
        async with self._lock:
            self._windows.clear()
            await self._end_if_unused()

    async def _end_if_unused(self) -> None:
        if self._browser is not None and not self._windows:
            browser, self._browser = self._browser, None
            await browser.end()
