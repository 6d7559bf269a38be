"""Waits, on events, for a condition to come true, and for a page to finish loading after an action."""

from __future__ import annotations

import asyncio
import contextlib
from importlib.resources import files

from playwright.async_api import Error, Page

from browser_agent.actions.outcome import Stop
from browser_agent.actions.union import WaitFor
from browser_agent.browser.faults import DialogOpened
from browser_agent.browser.page_events import Mark
from browser_agent.browser.window import Window

_QUIET = files("browser_agent.actions").joinpath("quiet.js").read_text(encoding="utf-8")
_INSTANT = 0.02
_STILL = 0.06
_MOST_STILL = 0.4
_MOST_STILL_LOADED = 1.2
_TAB = 2.0
_SUGGESTS = 0.35


async def wait_for(window: Window, action: WaitFor) -> str:
    """Wait for a text, an address or an event. Raises Stop: it did not come within the time given."""
    time = action.seconds * 1000
    page = window.page
    try:
        if action.text is not None:
            work = page.get_by_text(action.text).first.wait_for(state="visible", timeout=time)
            await window.running(work, action.seconds + 0.3)
        elif action.url is not None:
            part = action.url
            await window.running(page.wait_for_url(lambda url: part in url, timeout=time), action.seconds + 0.3)
        elif action.event == "load":
            if not await window.events.until(lambda: not window.events.loading(), action.seconds):
                raise TimeoutError
            await window.running(page.wait_for_load_state("load", timeout=time), action.seconds + 0.3)
        else:
            await settle(window, page, window.events.mark(), action.seconds)
    except TimeoutError as error:
        raise Stop("timed_out", f"it did not come within {action.seconds:g} s") from error
    except Error as error:
        raise Stop("not_possible", "the page went away while waiting; look again") from error
    return "it came"


async def settle(window: Window, page: Page, mark: Mark, seconds: float) -> bool:
    """Wait until what an action set in motion on `page` has come to rest, `seconds` at most.

    Returns:
        Whether another page stands there now: another document, another address, another tab, or a dialog.

    Raises:
        PageLost: the page crashed, closed, or does not answer.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds

    def left(most: float) -> float:
        return max(_INSTANT, min(most, deadline - clock()))

    try:
        await _still(window, left(_MOST_STILL))
        await window.opened_tab(left(_TAB))
        if window.page != page:  # it opened a tab, which we look at from here on
            mark = Mark(-1, 0, "")
        events = window.events
        if events.loading():
            await events.until(lambda: not events.loading(), left(seconds))
        moved = events.moved(mark) or window.page != page
        most = _MOST_STILL_LOADED if moved else _MOST_STILL
        while events.fetching(mark) and deadline - clock() > _INSTANT:
            if not await events.until(lambda: not events.fetching(mark), left(seconds)):
                break
            await _still(window, left(most))
        return events.moved(mark) or window.page != page
    except DialogOpened:
        return True


async def wait_for_suggestions(window: Window) -> None:
    """Give a page that suggests while one types the moment it takes to begin."""
    await _still(window, _MOST_STILL_LOADED, _SUGGESTS)


async def _still(window: Window, most: float, first: float = 0.0) -> None:
    """Let the page's own work run, and wait until its document stops changing, `most` seconds at most.

    One that does not change at all is waited for `first` seconds.

    A document that is being replaced has no rest to wait for: then this ends at once.
    """
    events = window.events
    work = window.running(window.page.evaluate(_QUIET, [_STILL * 1000, most * 1000, first * 1000]), most + 0.5)
    rest = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(events.until(events.unanswered, window.limits.whole))
    try:
        await asyncio.wait({rest, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if rest.done():
            with contextlib.suppress(TimeoutError, Error):
                rest.result()
    finally:
        rest.cancel()
        leaving.cancel()
        await asyncio.wait({rest, leaving})
