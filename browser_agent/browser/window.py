"""Keeps one window: its tabs, dialogs, downloads, elements and pictures, and runs work on a page within time limits."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Dialog, Download, Error, Page, Request
from playwright.async_api import TimeoutError as PageTimeout

from browser_agent.browser.limits import Limits, WindowSettings, measure_pace
from browser_agent.browser.page_events import PageEvents
from browser_agent.network.egress import FilterProxy
from browser_agent.observation import Control, Observation, TabInfo
from browser_agent.observation.masks import FIELD_LINES, find_covered
from browser_agent.observation.shorten import Furniture
from ctxfold.session.open import LARGEST_PICTURE

T = TypeVar("T")

Opener = Callable[[Chromium | None], Awaitable[tuple[BrowserContext, Page]]]
"""Opens a tab in a browser that lives, given the browser that was lost."""

_REMEMBERED = 5
"""So many earlier looks are kept, to say which control of now is most like one of theirs."""
_UNSAFE = re.compile(r"[^\w.\- ]+")
_LONGEST_NAME = 120
_GONE = ("target crashed", "has been closed", "connection closed", "browser closed", "target closed", "was detached")
"""Parts of Playwright's messages on a page that is lost."""
_COMING = 2.0
"""How many times as long a page may be silent while it is still coming in."""
_REPAIR_PARTS = 2.0
"""How many times `Limits.repair` is kept back of a call: for closing a lost page, and for opening another."""
_PICTURE_SECONDS = 2.0
"""Seconds in which a picture must be taken."""
_QUALITIES = (50, 25, 8)
"""JPEG qualities tried, until the picture is small enough."""


class PageLost(Exception):
    """The page hung, crashed or closed; the text completes "the page ...". `perform` turns it into a result."""


class PageSilent(Exception):
    """The page does not answer now, and may answer later. `perform` turns it into a result."""


class DialogOpened(Exception):
    """A dialog opened and blocks the page. `perform` turns it into a result."""


class Controls:
    """Elements by their refs. `now`: those that live now; `given`: those that the caller of this call knew."""

    def __init__(self) -> None:
        self.now: Mapping[str, Control] = {}
        self.given: Mapping[str, Control] = {}
        self._url = self._given_url = ""
        self._before: deque[Mapping[str, Control]] = deque(maxlen=_REMEMBERED)

    def begin_call(self) -> None:
        """Take those that live now for the ones that the caller knows."""
        self.given, self._given_url = self.now, self._url

    def learn(self, refs: Mapping[str, Control], url: str) -> None:
        """Take `refs`, of a page at `url`, as the ones that live now."""
        self._before.append(self.now)
        self.now, self._url = refs, url.partition("#")[0]

    def find_nearest(self, ref: str) -> Control | None:
        """Return the control of now that is most like the one of an earlier ref; None for an unknown ref, or nothing
        alike.
        """
        old = next((refs[ref] for refs in (self.now, *reversed(self._before)) if ref in refs), None)
        if old is None:
            return None
        words = set(old.name.lower().split())

        def likeness(control: Control) -> int:
            return len(words) + 1 if control.name == old.name else len(words & set(control.name.lower().split()))

        alike = [control for control in self.now.values() if control.role == old.role and control.name]
        best = max(alike, key=likeness, default=None)
        return best if best is not None and likeness(best) else None

    def find_successor(self, ref: str) -> Control | None:
        """Return the control that the page drew anew for one the caller knew: the only one of its role and name, in
        both.
        """
        old = self.given.get(ref)
        if old is None or not old.name or self._given_url != self._url:
            return None
        before, now = (
            [control for control in refs.values() if (control.role, control.name) == (old.role, old.name)]
            for refs in (self.given, self.now)
        )
        return now[0] if len(before) == len(now) == 1 else None


class Downloads:
    """The downloads of one window. `scrub` takes secrets out of names; `count` is how many have begun."""

    def __init__(self, folder: Path, scrub: Callable[[str], str]) -> None:
        self.folder = folder
        self.count = 0
        self._scrub = scrub
        self._saving: set[asyncio.Task[None]] = set()
        self._arrived: list[str] = []

    def save(self, download: Download) -> None:
        """Save a download that began, as it comes in."""
        self.count += 1
        task = asyncio.ensure_future(self._save(download))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def wait_saved(self, seconds: float) -> bool:
        """Wait until all that began have arrived, and return whether they have."""
        if self._saving:
            await asyncio.wait(set(self._saving), timeout=seconds)
        return not self._saving

    def take(self) -> tuple[str, ...]:
        """Paths of the files that arrived since the last call."""
        arrived, self._arrived = tuple(self._arrived), []
        return arrived

    async def _save(self, download: Download) -> None:
        """Save a download under a safe name, and note its path."""
        with contextlib.suppress(Error, OSError):  # one that was cancelled or broke off leaves no file to list
            self.folder.mkdir(parents=True, exist_ok=True)
            # Nothing in the name that a path, a shell or a file system could take for more than a name.
            name = _UNSAFE.sub("_", self._scrub(download.suggested_filename)).strip(" .")[-_LONGEST_NAME:]
            path = self._claim(Path(name or "download"))
            await download.save_as(path)
            self._arrived.append(str(path))

    def _claim(self, name: Path) -> Path:
        """Create an empty file in the folder, with a number in its name if another has that name."""
        number = 1
        while True:
            path = self.folder / (name if number == 1 else f"{name.stem}-{number}{name.suffix}")
            with contextlib.suppress(FileExistsError):
                path.touch(exist_ok=False)
                return path
            number += 1


class Window:
    """Tabs that share one profile. `Browser.window` makes it; `perform` acts on it.

    Attributes:
        last: the last observation that was shown.
        controls: the elements that can be addressed.
        answered: how many dialogs were answered one after another.
        titles: the title of each tab when it was last seen.
        leaving: whether a page is being left; its question whether to stay is answered with yes.
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
        self.titles: dict[Page, str] = {}
        self.leaving = False
        self._opening = False
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
        """Note when a call began, and which elements its caller knows."""
        self.controls.begin_call()
        self._begun = asyncio.get_running_loop().time()

    @property
    def spent(self) -> float:
        """Seconds since the call began."""
        return asyncio.get_running_loop().time() - self._begun

    def begin(self) -> None:
        """Start the clock of one action: all that follows fits into `Limits.whole`."""
        self._deadline = asyncio.get_running_loop().time() + self.limits.whole
        self._context.set_default_timeout(self.limits.action * 1000)

    @property
    def left(self) -> float:
        """Seconds left of this action, without those kept back to replace a lost page."""
        return self._deadline - asyncio.get_running_loop().time() - _REPAIR_PARTS * self.limits.repair

    def turn_to(self, page: Page) -> None:
        """Make `page` the current tab. Its refs are new."""
        self._page = page
        self._watch(page)

    async def wait_for_tab(self, seconds: float) -> None:
        """Wait for the tab that is about to open, if one is."""
        await self.events.until(lambda: not self._opening, seconds)
        self._opening = False

    async def open_tab(self) -> Page:
        """Open an empty tab, turn to it, and return it."""
        page = await self._context.new_page()
        self.turn_to(page)
        return page

    async def run(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """Run `work` on the page, unless a dialog opens, the page is lost, or `seconds` pass.

        Raises:
            DialogOpened: a dialog blocks the page; the work may still end once it is answered.
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
        except (PageTimeout, TimeoutError) as error:
            await self._must_answer()
            raise TimeoutError(str(error)) from error
        except Error as error:
            _check_gone(error)
            raise
        finally:
            opened.cancel()
            task.cancel()

    def remember(self, observation: Observation) -> None:
        """Take `observation` as the last one: its refs are the ones that live now."""
        self.controls.learn(observation.refs, self._page.url)
        self.last = observation
        self.furniture = self.furniture.add_page(observation)

    async def recover(self) -> None:
        """Replace a lost tab with an empty one, in a fresh browser if the lost one keeps this one too busy to open it.

        Raises:
            BrowserGone: no browser could be started again.
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
        """Answer the open dialog, and return whether one was open."""
        dialog = self.dialog
        self.forget_dialog()
        if dialog is None:
            return False
        self.answered += 1
        with contextlib.suppress(Error):  # it was closed by the page in the meantime
            await (dialog.accept(text or "") if accept else dialog.dismiss())
        return True

    def list_tabs(self) -> tuple[TabInfo, ...]:
        """Return the open tabs, with the titles they had when they were last seen."""
        return tuple(
            TabInfo(index=number, url=page.url, title=self.titles.get(page, ""), current=page == self._page)
            for number, page in enumerate(self.pages, 1)
        )

    async def close(self) -> None:
        """Close every tab and forget the profile."""
        gate = self.settings.gate
        async with contextlib.nullcontext() if gate is None else gate.closing():
            with contextlib.suppress(Error, TimeoutError):
                await asyncio.wait_for(self._context.close(), self.limits.repair)

    def _adopt(self, context: BrowserContext, page: Page) -> None:
        """Take a profile and its tab as those of this window."""
        self._context = context
        self._page_events: dict[Page, PageEvents] = {}
        context.on("dialog", self._on_dialog)
        context.on("page", self._on_page)
        context.on("request", self._on_request)
        self.turn_to(page)

    def _watch(self, page: Page) -> None:
        if page not in self._page_events:
            self._page_events[page] = PageEvents(page)
            page.on("download", self.downloads.save)
            page.on("close", self._on_closed)

    def _on_dialog(self, dialog: Dialog) -> None:
        """Note an open dialog; the question of a page that is being left is answered with yes."""
        if self.leaving and dialog.type == "beforeunload":
            asyncio.ensure_future(dialog.accept()).add_done_callback(_retrieve)
            return
        self.dialog = dialog
        self._dialog_opened.set()

    def forget_dialog(self) -> None:
        """Forget the open dialog, and leave its tab to itself."""
        self.dialog = None
        self._dialog_opened.clear()

    async def wait_for_dialog(self, seconds: float) -> bool:
        """Wait for the next dialog, and return whether one came."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._dialog_opened.wait(), seconds)
        return self.dialog is not None

    def _on_request(self, request: Request) -> None:
        """Note that a tab is about to open: no page that we know asks for its document."""
        if request.is_navigation_request():
            try:
                _ = request.frame
            except Error:
                self._opening = True

    def _on_page(self, page: Page) -> None:
        """Watch a tab that opened, and turn to it unless it is the first."""
        self._opening = False
        self.events.pulse.set()
        self._watch(page)
        if len(self.pages) > 1:
            self.turn_to(page)

    def _on_closed(self, page: Page) -> None:
        """Forget a tab that closed, and turn to the newest other one."""
        if self.dialog is not None and self.dialog.page == page:
            self.forget_dialog()
        if page == self._page and self.pages:
            self.turn_to(self.pages[-1])
        if page != self._page:
            self._page_events.pop(page, None)
            self.titles.pop(page, None)

    async def _must_answer(self) -> None:
        """Ask the page for a sign of life, for as long as the machine's pace calls for now.

        Raises:
            DialogOpened: a dialog blocks the page.
            PageSilent: it did not answer now.
            PageLost: it crashed, closed, or has been silent for too long, over several calls.
        """
        if self.dialog is not None:
            raise DialogOpened
        events, now = self.events, asyncio.get_running_loop().time
        if events.is_unanswered():
            return
        pace = await measure_pace()
        if pace > self.limits.pace:  # the machine is slower now
            whole, self.limits = self.limits.whole, self.limits.at_pace(pace)
            self._deadline += self.limits.whole - whole
        asked = now()
        try:
            await asyncio.wait_for(self._page.evaluate("1"), max(self.limits.probe, self.left))
        except TimeoutError as error:
            events.silent_since = events.silent_since or asked
            if now() - events.silent_since >= self.limits.silence * (_COMING if events.is_loading() else 1.0):
                raise PageLost("hung and was closed") from error
            raise PageSilent from error
        except Error as error:
            _check_gone(error)
        events.silent_since = None


def _check_gone(error: Error) -> None:
    """Raise PageLost if an error says that the page crashed or closed."""
    if any(sign in error.message.lower() for sign in _GONE):
        raise PageLost("crashed or was closed") from error


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a task that nobody awaits any more, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


async def take_screenshot(window: Window, page: Observation | None) -> bytes | None:
    """Picture the current tab, as a JPEG of at most `LARGEST_PICTURE` bytes, its password fields covered.

    None without a page, if its words show a secret outside of fields, or it does not hold still.
    """
    secrets = window.settings.secrets.all
    if page is None or page.dialog is not None:
        return None
    lines = [line for line in page.full.split("\n") if not line.lstrip().startswith(FIELD_LINES)]
    if any(secret.placeholder in line for line in lines for secret in secrets):
        return None
    options: dict[str, Any] = {"type": "jpeg", "scale": "css", "timeout": _PICTURE_SECONDS * 1000}
    for quality in _QUALITIES:
        mask = find_covered(window.page, every_field=bool(secrets))
        shot = window.page.screenshot(mask=mask, mask_color="#777777", quality=quality, **options)
        try:
            picture: bytes = await window.run(shot, _PICTURE_SECONDS)
        except (Error, TimeoutError, DialogOpened, PageLost, PageSilent):
            return None  # the page changes, hangs or is gone: the next look deals with that
        if len(picture) <= LARGEST_PICTURE:
            return picture
    return None
