"""One window of the browser: its tabs, dialog, downloads and last observation, each call within `Limits`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Dialog, Error, Locator, Page, Request
from playwright.async_api import TimeoutError as PageTimeout

from browser_agent.browser.controls import Controls
from browser_agent.browser.downloads import Downloads
from browser_agent.browser.faults import DialogOpened, check_answers, check_gone
from browser_agent.browser.limits import Limits
from browser_agent.browser.pace import measure_pace
from browser_agent.browser.page_events import PageEvents
from browser_agent.browser.settings import WindowSettings
from browser_agent.network.proxy import FilterProxy
from browser_agent.observation.before import Furniture
from browser_agent.observation.values import Observation, TabInfo

T = TypeVar("T")

_REPAIR_PARTS = 2.0

# Given the browser that was lost: a tab in one that lives.
Opener = Callable[[Chromium | None], Awaitable[tuple[BrowserContext, Page]]]


class Window:
    """Tabs that share one profile. `Browser.window` makes it; `perform` acts on it.

    `last` is what was shown last, `controls` what can be addressed. `answered` counts the dialogs it answers one after another; while it is `leaving` a page, that page's question whether to stay is answered for it.
    """

    def __init__(
        self,
        context: BrowserContext,
        page: Page,
        settings: WindowSettings,
        revive: Opener,
        proxy: FilterProxy | None = None,
    ) -> None:
        self.limits: Limits = settings.limits
        self.settings = settings
        self.proxy = proxy
        self.last: Observation | None = None
        self.controls = Controls()
        self.furniture = Furniture()
        self.dialog: Dialog | None = None
        self.downloads = Downloads(settings.folders.downloads, settings.secrets.scrub)
        self._revive = revive
        self.answered = 0
        self._dialog_opened = asyncio.Event()
        self._titles: dict[Page, str] = {}
        self.leaving = False
        self._opening = False
        self._opened = asyncio.Event()
        self._deadline = self._begun = 0.0
        self._adopt(context, page)

    @property
    def page(self) -> Page:
        """The tab that is looked at and acted on."""
        return self._page

    @property
    def events(self) -> PageEvents:
        """What the current tab does on its own."""
        return self._page_events[self._page]

    @property
    def pages(self) -> tuple[Page, ...]:
        """The open tabs, in the order they were opened."""
        return tuple(page for page in self._context.pages if not page.is_closed())

    def begin_call(self) -> None:
        """Take note of when a call began, and by which elements it was made."""
        self.controls.begin_call()
        self._begun = asyncio.get_running_loop().time()

    def spent(self) -> float:
        """Seconds since the call began."""
        return asyncio.get_running_loop().time() - self._begun

    def begin(self) -> None:
        """Start the clock of one call: all that follows fits into `Limits.whole`."""
        self._deadline = asyncio.get_running_loop().time() + self.limits.whole

    async def renew_limits(self) -> None:
        """Have the limits follow the machine where it takes longer now than they were set for."""
        pace = await measure_pace()
        if pace > self.limits.pace:
            whole, self.limits = self.limits.whole, self.limits.at_pace(pace)
            self._deadline += self.limits.whole - whole

    def left(self) -> float:
        """Seconds of this call that are left, those it takes to put a lost page right kept back."""
        return self._deadline - asyncio.get_running_loop().time() - _REPAIR_PARTS * self.limits.repair

    def element(self, ref: str) -> Locator:
        """The element behind a ref of the last observation."""
        return self._page.get_by_ref(ref)

    def turn_to(self, page: Page) -> None:
        """Make `page` the current tab. Its refs are new."""
        self._page = page
        self._watch(page)

    async def opened_tab(self, seconds: float) -> None:
        """Wait for the tab that is about to open, if one is."""
        if self._opening:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._opened.wait(), seconds)
            self._opening = False

    async def new_tab(self) -> Page:
        """Open an empty tab and turn to it."""
        page = await self._context.new_page()
        self.turn_to(page)
        return page

    async def running(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """Run `work` on the page, unless a dialog opens, the page is lost, or `seconds` pass.

        Raises:
            DialogOpened: a dialog stands before the page; the work may still end once it is answered.
            PageSilent: the page does not answer now.
            PageLost: the page crashed, closed, or has not answered for long.
            TimeoutError: the page is well, but this did not end in time.
            playwright.async_api.Error: the page refused, in Playwright's words.
        """
        if self.dialog is not None:
            work.close()
            raise DialogOpened
        task = asyncio.ensure_future(work)
        task.add_done_callback(_retrieve)
        opened = asyncio.ensure_future(self._dialog_opened.wait())
        try:
            await asyncio.wait({task, opened}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                result = task.result()
                self.events.silent_since = None
                return result
            if opened.done():
                raise DialogOpened
            raise TimeoutError
        except PageTimeout as error:
            await self._must_answer()
            raise TimeoutError(error.message) from error
        except TimeoutError:
            await self._must_answer()
            raise
        except Error as error:
            check_gone(error)
            raise
        finally:
            opened.cancel()
            task.cancel()

    def remember(self, observation: Observation) -> None:
        """Take `observation` as the last one: its refs are the ones that live now."""
        self.controls.know(observation.refs, self._page.url)
        self.last = observation
        self.furniture = self.furniture.after(observation)

    def note_title(self, title: str) -> None:
        """Note what the current tab is called."""
        self._titles[self._page] = title

    async def recover(self) -> None:
        """Put a fresh, empty tab in the place of a lost one; a fresh browser, if that one opens none while the lost one keeps it busy.

        Raises:
            BrowserGone: no browser could be brought back.
        """
        closing = asyncio.ensure_future(self._page.close())
        opening = asyncio.ensure_future(self._context.new_page())
        for task in (closing, opening):
            task.add_done_callback(_retrieve)
        self.forget_dialog()
        try:
            page = await asyncio.wait_for(opening, self.limits.repair)
            await asyncio.wait({closing}, timeout=self.limits.repair / 2)
        except (Error, TimeoutError):
            self._adopt(*await self._revive(self._context.browser))
        else:
            self.turn_to(page)

    async def answer_dialog(self, accept: bool, text: str | None) -> bool:
        """Answer the open dialog; False when there is none."""
        dialog, self.dialog = self.dialog, None
        self._dialog_opened.clear()
        if dialog is None:
            return False
        self.answered += 1
        with contextlib.suppress(Error):  # it was closed by the page in the meantime
            await (dialog.accept(text or "") if accept else dialog.dismiss())
        return True

    def tabs(self) -> tuple[TabInfo, ...]:
        """The open tabs, by what was last seen of them."""
        return tuple(
            TabInfo(index=number, url=page.url, title=self._titles.get(page, ""), current=page == self._page)
            for number, page in enumerate(self.pages, 1)
        )

    async def close(self) -> None:
        """Close every tab and forget the profile."""
        gate = self.settings.gate
        async with contextlib.nullcontext() if gate is None else gate.closing():
            with contextlib.suppress(Error, TimeoutError):
                await asyncio.wait_for(self._context.close(), self.limits.repair)

    def _adopt(self, context: BrowserContext, page: Page) -> None:
        self._context = context
        self._page_events: dict[Page, PageEvents] = {}
        context.on("dialog", self._on_dialog)
        context.on("page", self._on_page)
        context.on("request", self._on_request)
        self.turn_to(page)

    def _watch(self, page: Page) -> None:
        if page not in self._page_events:
            self._page_events[page] = PageEvents(page)
            page.on("download", self.downloads.began)
            page.on("close", self._on_closed)

    def _on_dialog(self, dialog: Dialog) -> None:
        if self.leaving and dialog.type == "beforeunload":
            asyncio.ensure_future(dialog.accept()).add_done_callback(_retrieve)
            return
        self.dialog = dialog
        self._dialog_opened.set()

    def forget_dialog(self) -> None:
        """Take the open dialog for none: its tab is left to itself."""
        self.dialog = None
        self._dialog_opened.clear()

    async def dialog_comes(self, seconds: float) -> bool:
        """Wait for the next dialog; whether one came."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._dialog_opened.wait(), seconds)
        return self.dialog is not None

    def _on_request(self, request: Request) -> None:
        """A document asked for by no page we know is that of a tab about to open."""
        if request.is_navigation_request():
            try:
                _ = request.frame
            except Error:
                self._opening = True
                self._opened.clear()

    def _on_page(self, page: Page) -> None:
        self._opening = False
        self._opened.set()
        self._watch(page)
        if len(self.pages) > 1:
            self.turn_to(page)

    def _on_closed(self, page: Page) -> None:
        if self.dialog is not None and self.dialog.page == page:
            self.forget_dialog()
        if page == self._page and self.pages:
            self.turn_to(self.pages[-1])
        if page != self._page:
            self._page_events.pop(page, None)
            self._titles.pop(page, None)

    async def _must_answer(self) -> None:
        """Ask the page for a sign of life, for as long as the machine's pace calls for now."""
        if self.dialog is not None:
            raise DialogOpened
        if self.events.unanswered():
            return
        await self.renew_limits()
        await check_answers(self._page, self.events, max(self.limits.probe, self.left()), self.limits.silence)


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a task that is no longer awaited, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()
