"""Opens addresses, goes back, works with tabs and dialogs, and waits until a page has come to rest."""

from __future__ import annotations

import asyncio
import contextlib
import re
from importlib.resources import files
from urllib.parse import urlsplit

from playwright.async_api import Error, Page
from playwright.async_api import TimeoutError as PageTimeout

from browser_agent.actions import Back, Dialog, Navigate, Stop, Tab, WaitFor
from browser_agent.browser.page_events import Mark
from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.network.egress import origin_of

_CONNECTIONS = 6
"""How many connections a browser opens to one host at a time."""
_INTERRUPTED = "interrupted by another navigation"
_NET = re.compile(r"net::ERR_([A-Z_]+)")
_RULES = {
    "domain": "that domain is not allowed; start again with --allow DOMAIN to reach it",
    "private": "the address leads into this machine or its network; start again with --allow HOST:PORT to reach it",
}


async def navigate(window: Window, action: Navigate) -> str:
    """Open an address in the current tab. Raises Stop: it is refused, or cannot be opened; the message says why."""
    check_address(action.url)
    _check_rule(window, action.url)
    seconds = window.limits.navigation
    begun = window.downloads.count
    await _make_room(window)
    window.leaving = True
    try:
        await _go(window, action.url, seconds)
    except (TimeoutError, PageTimeout) as error:
        raise Stop("timed_out", f"no answer within {seconds:.0f} s") from error
    except Error as error:
        if window.downloads.count > begun or "download is starting" in error.message.lower():
            return "the address is a file"
        if _INTERRUPTED in error.message:
            return "opened; the page went on to another address"
        await check_barred(window)
        raise Stop("unreachable", _explain(error.message)) from error
    finally:
        window.leaving = False
    await check_barred(window)
    status = window.events.status
    if status is not None and status >= 400:
        raise Stop("http_error", f"the server answers {status}")
    return "opened"


async def _make_room(window: Window) -> None:
    """Stop the requests of a page that holds all connections to a host, since the next page waits for one of them."""
    if window.events.in_flight() >= _CONNECTIONS:
        with contextlib.suppress(Error, TimeoutError):  # it hangs, or is leaving already
            await asyncio.wait_for(window.page.evaluate("stop()"), window.limits.probe)


async def _go(window: Window, url: str, seconds: float) -> None:
    """Open an address; once more if the page before it was just leaving for another."""
    for attempt in (1, 2):
        try:
            await window.run(window.page.goto(url, wait_until="commit", timeout=seconds * 1000), seconds + 0.3)
            return
        except Error as error:
            if attempt == 2 or _INTERRUPTED not in error.message:
                raise


async def go_back(window: Window, _: Back) -> str:
    """Go one page back. Raises Stop: this is the first page."""
    seconds, page = window.limits.navigation, window.page
    before = page.url
    try:
        response = await window.run(page.go_back(wait_until="commit", timeout=seconds * 1000), seconds + 0.3)
    except TimeoutError as error:
        raise Stop("timed_out", "the page before this one does not come; navigate to it by address") from error
    except Error as error:
        raise Stop("unreachable", _explain(error.message)) from error
    if response is None and page.url == before:
        raise Stop("nothing_to_do", "there is no page before this one")
    return "went back"


def check_address(url: str) -> None:
    """Let web addresses through. Raises Stop: another scheme, or not an address."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise Stop("not_possible", "that is not an address; give one such as https://host/path") from error
    if url == "about:blank" or (parts.scheme in {"http", "https"} and parts.netloc):
        return
    if not parts.scheme or parts.scheme in {"http", "https"} or "." in parts.scheme:
        raise Stop("not_possible", "that is not a full address; give one such as https://host/path")
    raise Stop("refused", "only http:// and https:// addresses are opened")


async def check_barred(window: Window) -> None:
    """See whether the filter proxy let the document through, and leave an empty tab where it did not.

    Raises:
        Stop: it refused the document, or found nothing at its address.
    """
    barred, proxy = window.events.barred, window.proxy
    if barred is None or proxy is None:
        return
    try:
        await window.run(window.page.goto("about:blank"), window.limits.repair)
    except (Error, TimeoutError, DialogOpened, PageLost, PageSilent):
        await window.recover()
    refusal = next((refused for refused in reversed(proxy.refusals) if (refused.host, refused.port) == barred), None)
    if refusal is None or refusal.reason == "unreachable":
        raise Stop("unreachable", "nothing answers at that address, or no host of that name is known")
    raise Stop("refused", _RULES[refusal.reason])


def _check_rule(window: Window, url: str) -> None:
    """Check an address against the egress rule by name. Raises Stop: it is refused."""
    origin = origin_of(url)
    if window.proxy is not None and origin is not None:
        verdict = window.proxy.rule.judge_name(*origin)
        if verdict != "allowed":
            raise Stop("refused", _RULES[verdict])


def _explain(message: str) -> str:
    """Return why an address was not opened, in Chromium's words, such as `connection refused`."""
    code = _NET.search(message)
    return "the address cannot be opened" + (f": {code[1].lower().replace('_', ' ')}" if code is not None else "")


async def answer_dialog(window: Window, action: Dialog) -> str:
    """Answer the open dialog. Raises Stop: none is open."""
    if not await window.answer_dialog(action.accept, action.text):
        raise Stop("nothing_to_do", "no dialog is open")
    return "accepted the dialog" if action.accept else "dismissed the dialog"


async def use_tab(window: Window, action: Tab) -> str:
    """List, open, switch or close tabs. Raises Stop: no such tab, or its address cannot be opened."""
    pages = window.pages
    if action.index is not None and action.index > len(pages):
        raise Stop("nothing_to_do", f"there is no such tab; {len(pages)} open")
    page = pages[action.index - 1] if action.index is not None else window.page
    match action.op:
        case "list":
            return f"{len(pages)} open"
        case "new":
            if action.url is not None:
                check_address(action.url)
            await window.open_tab()
            if action.url is not None:
                await navigate(window, Navigate(kind="navigate", url=action.url))
            return "opened a tab"
        case "switch":
            window.turn_to(page)
            await window.run(page.bring_to_front(), window.limits.action)
            return "switched tabs"
        case _:
            if len(pages) == 1:
                await window.open_tab()
            try:
                await window.run(page.close(), window.limits.action)
            except Error as error:
                raise Stop("not_possible", "the tab does not close") from error
            return "closed the tab"


_QUIET = files("browser_agent.actions").joinpath("quiet.js").read_text(encoding="utf-8")
_INSTANT = 0.02
"""The least time waited for anything, in seconds."""
_STILL = 0.06
"""Seconds without a change after which a document counts as still."""
_MOST_STILL, _MOST_STILL_LOADED = 0.4, 1.2
"""Seconds waited at most for a document to be still: after an action, and after it loaded a page."""
_TAB = 2.0
"""Seconds in which a tab that a page asked for opens."""
_SUGGESTS = 0.35
"""Seconds in which a page that suggests while one types begins to."""


async def wait_for(window: Window, action: WaitFor) -> str:
    """Wait for a text, an address or an event. Raises Stop: it did not come within the time given."""
    page, events, most, part = window.page, window.events, action.seconds * 1000, action.url or ""
    try:
        if action.event == "quiet":
            await settle(window, page, events.mark(), action.seconds)
            return "it came"
        if action.text is not None:
            work = page.get_by_text(action.text).first.wait_for(state="visible", timeout=most)
        elif action.url is not None:
            work = page.wait_for_url(lambda url: part in url, timeout=most)
        elif await events.until(lambda: not events.is_loading(), action.seconds):
            work = page.wait_for_load_state("load", timeout=most)
        else:
            raise TimeoutError
        await window.run(work, action.seconds + 0.3)
    except TimeoutError as error:
        raise Stop("timed_out", f"it did not come within {action.seconds:g} s") from error
    except Error as error:
        raise Stop("not_possible", "the page went away while waiting; look again") from error
    return "it came"


async def settle(window: Window, page: Page, mark: Mark, seconds: float) -> bool:
    """Wait until what an action set in motion on `page` has come to rest, `seconds` at most.

    Returns:
        Whether the page is another one now: another document, address or tab, or a dialog.

    Raises:
        PageLost: the page crashed, closed, or does not answer.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds

    def limit(most: float) -> float:
        return max(_INSTANT, min(most, deadline - clock()))

    try:
        await _wait_until_still(window, limit(_MOST_STILL))
        await window.wait_for_tab(limit(_TAB))
        if window.page != page:  # it opened a tab, which we look at from here on
            mark = Mark(-1, 0, "")
        events = window.events
        if events.is_loading():
            await events.until(lambda: not events.is_loading(), limit(seconds))
        moved = events.has_moved(mark) or window.page != page
        most = _MOST_STILL_LOADED if moved else _MOST_STILL
        while events.is_fetching(mark) and deadline - clock() > _INSTANT:
            if not await events.until(lambda: not events.is_fetching(mark), limit(seconds)):
                break
            await _wait_until_still(window, limit(most))
        return events.has_moved(mark) or window.page != page
    except DialogOpened:
        return True


async def wait_for_suggestions(window: Window) -> None:
    """Wait until a page that suggests while one types has begun to."""
    await _wait_until_still(window, _MOST_STILL_LOADED, _SUGGESTS)


async def _wait_until_still(window: Window, most: float, first: float = 0.0) -> None:
    """Wait until the document of the page stops changing, `most` seconds at most.

    A document that does not change at all is waited for `first` seconds, one that is being replaced not at all.
    """
    events = window.events
    work = window.run(window.page.evaluate(_QUIET, [_STILL * 1000, most * 1000, first * 1000]), most + 0.5)
    rest = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(events.until(events.is_unanswered, window.limits.whole))
    try:
        await asyncio.wait({rest, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if rest.done():
            with contextlib.suppress(TimeoutError, Error):
                rest.result()
    finally:
        rest.cancel()
        leaving.cancel()
        await asyncio.wait({rest, leaving})
