"""One window of the browser: its tabs, dialog, downloads and last observation, each call within `Limits`."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Dialog, Download, Error, Locator, Page, Request
from playwright.async_api import TimeoutError as PageTimeout

from browser_agent.browser.limits import Limits, WindowSettings, measure_pace
from browser_agent.browser.page_events import PageEvents
from browser_agent.network.egress import FilterProxy
from browser_agent.observation import Control, Observation, TabInfo
from browser_agent.observation.masks import FIELD_LINES, find_covered
from browser_agent.observation.shorten import Furniture
from ctxfold.session.open import LARGEST_PICTURE

_REMEMBERED = 5


class Controls:
    """Elements by their refs. `now`: those that live now; `given`: those that the call was made by."""

    def __init__(self) -> None:
        self.now: Mapping[str, Control] = {}
        self.given: Mapping[str, Control] = {}
        self._at = self._given_at = ""
        self._before: deque[Mapping[str, Control]] = deque(maxlen=_REMEMBERED)

    def begin_call(self) -> None:
        """Take those that live now for the ones that a call is made by."""
        self.given, self._given_at = self.now, self._at

    def know(self, refs: Mapping[str, Control], url: str) -> None:
        """Take `refs`, of a page at `url`, as the ones that live now."""
        self._before.append(self.now)
        self.now, self._at = refs, url.partition("#")[0]

    def nearest(self, ref: str) -> Control | None:
        """What stands now where a ref of an earlier observation stood: the control most like it, None for an unknown ref."""
        old = next((refs[ref] for refs in (self.now, *reversed(self._before)) if ref in refs), None)
        if old is None:
            return None
        alike = [control for control in self.now.values() if control.role == old.role and control.name]
        exact = [control for control in alike if control.name == old.name]
        words = set(old.name.lower().split())
        near = [control for control in alike if words & set(control.name.lower().split())]
        near.sort(key=lambda control: -len(words & set(control.name.lower().split())))
        return next(iter([*exact, *near]), None)

    def successor(self, ref: str) -> Control | None:
        """What the page drew anew in the place of an element that a call was made by: the only one of its role and name, then as now."""
        old = self.given.get(ref)
        if old is None or not old.name or self._given_at != self._at:
            return None
        before, now = ([one for one in refs.values() if _same(one, old)] for refs in (self.given, self.now))
        return now[0] if len(before) == len(now) == 1 else None


def _same(one: Control, other: Control) -> bool:
    return (one.role, one.name) == (other.role, other.name)


_UNSAFE = re.compile(r"[^\w.\- ]+")
_NAME = 120


class Downloads:
    """The downloads of one window. `scrub` takes secrets out of names; `take` hands out what has arrived since it was last asked."""

    def __init__(self, folder: Path, scrub: Callable[[str], str]) -> None:
        self.folder = folder
        self._scrub = scrub
        self._began = 0
        self._saving: set[asyncio.Task[None]] = set()
        self._arrived: list[str] = []
        self._news = asyncio.Event()

    @property
    def count(self) -> int:
        """How many have begun."""
        return self._began

    def began(self, download: Download) -> None:
        """Note that a download began, and save it as it comes in."""
        self._began += 1
        task = asyncio.ensure_future(self._save(download))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)
        self._news.set()

    async def wait_begun(self, count: int, seconds: float) -> bool:
        """Wait until more than `count` have begun; whether they have."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._began <= count:
                    self._news.clear()
                    await self._news.wait()
        return self._began > count

    async def wait_saved(self, seconds: float) -> bool:
        """Wait until all that began have arrived; whether they have."""
        if self._saving:
            await asyncio.wait(set(self._saving), timeout=seconds)
        return not self._saving

    def take(self) -> tuple[str, ...]:
        """Paths of the files that arrived since the last call."""
        arrived, self._arrived = tuple(self._arrived), []
        return arrived

    async def _save(self, download: Download) -> None:
        with contextlib.suppress(Error, OSError):  # one that was cancelled or broke off leaves no file to list
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self._free(_safe(self._scrub(download.suggested_filename)))
            await download.save_as(path)
            self._arrived.append(str(path))

    def _free(self, name: str) -> Path:
        """A path in the folder that no file has yet, and claimed."""
        stem, dot, ending = name.rpartition(".")
        for number in range(1, 10_000):
            numbered = (
                name if number == 1 else f"{stem or ending}-{number}{dot if stem else ''}{ending if stem else ''}"
            )
            path = self.folder / numbered
            with contextlib.suppress(FileExistsError):
                path.touch(exist_ok=False)
                return path
        raise FileExistsError(name)


def _safe(name: str) -> str:
    """A file name without anything a path, a shell or a file system could take for more than a name."""
    return _UNSAFE.sub("_", name).strip(" .")[-_NAME:] or "download"


_GONE = ("target crashed", "has been closed", "connection closed", "browser closed", "target closed", "was detached")

_COMING = 2.0
"""How much longer a page may be silent that is still coming in."""


class PageLost(Exception):
    """The page hung, crashed or closed under us; its text says which, behind "the page". Inner to this package: `perform` turns it into an outcome."""


class PageSilent(Exception):
    """The page does not answer now, and may yet. Inner to this package: `perform` turns it into an outcome."""


class DialogOpened(Exception):
    """A dialog opened and blocks the page. Inner to this package: `perform` turns it into an outcome."""


async def check_answers(page: Page, events: PageEvents, seconds: float, silence: float) -> None:
    """Ask a page for a sign of life. It may have been silent for `silence` seconds, over several calls. Raises PageSilent: it did not answer now; PageLost: it is hung, crashed or closed."""
    clock = asyncio.get_running_loop().time
    asked = clock()
    try:
        await asyncio.wait_for(page.evaluate("1"), seconds)
    except TimeoutError as error:
        since = events.silent_since = events.silent_since or asked
        if clock() - since >= silence * (_COMING if events.loading() else 1.0):
            raise PageLost("hung and was closed") from error
        raise PageSilent from error
    except Error as error:
        check_gone(error)
    events.silent_since = None


def check_gone(error: Error) -> None:
    """See whether an error says that the page is gone. Raises PageLost: it crashed or closed."""
    if any(sign in error.message.lower() for sign in _GONE):
        raise PageLost("crashed or was closed") from error


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
        self._context.set_default_timeout(self.limits.action * 1000)

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


SECONDS = 2.0
"""The longest one picture may take."""

_QUALITIES = (50, 25, 8)
"""JPEG qualities tried, until the picture is small enough."""


async def take_screenshot(window: Window, page: Observation | None) -> bytes | None:
    """Picture the current tab; None where there is no page, a page shows a secret in its words, or it does not hold still. Returns a JPEG of at most `LARGEST_PICTURE` bytes."""
    if page is None or page.dialog is not None or _shows_secret(window, page):
        return None
    options: dict[str, Any] = {"type": "jpeg", "scale": "css", "timeout": SECONDS * 1_000, "mask_color": "#777777"}
    for quality in _QUALITIES:
        mask = find_covered(window.page, every_field=bool(window.settings.secrets.all))
        shot = window.page.screenshot(mask=mask, quality=quality, **options)
        try:
            made: bytes = await window.running(shot, SECONDS)
        except (Error, TimeoutError, DialogOpened, PageLost, PageSilent):
            return None  # the page changes, hangs or is gone: the next look deals with that, a picture is not worth it
        if len(made) <= LARGEST_PICTURE:
            return made
    return None


def _shows_secret(window: Window, page: Observation) -> bool:
    """Whether the page shows a secret anywhere but in a field, which is covered."""
    marks = [secret.placeholder for secret in window.settings.secrets.all]
    lines = (line for line in page.full.split("\n") if not line.lstrip().startswith(FIELD_LINES))
    return bool(marks) and any(mark in line for line in lines for mark in marks)
