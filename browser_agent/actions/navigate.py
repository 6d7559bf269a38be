"""Opens an address, and goes back."""

from __future__ import annotations

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

from playwright.async_api import Error
from playwright.async_api import TimeoutError as PageTimeout

from browser_agent.actions.outcome import Stop
from browser_agent.actions.union import Navigate
from browser_agent.browser.faults import DialogOpened, PageLost, PageSilent
from browser_agent.browser.window import Window
from browser_agent.network.egress import origin_of

_CONNECTIONS = 6
"""How many a browser opens to one host at a time."""
_INTERRUPTED = "interrupted by another navigation"
_NET = re.compile(r"net::ERR_([A-Z_]+)")
_SAYS = {
    "NAME_NOT_RESOLVED": "no host of that name is known",
    "CONNECTION_REFUSED": "nothing answers at that address",
    "CONNECTION_RESET": "the server broke the connection off",
    "CONNECTION_CLOSED": "the server broke the connection off",
    "EMPTY_RESPONSE": "the server sent nothing",
    "CONNECTION_TIMED_OUT": "the server does not answer",
    "ADDRESS_UNREACHABLE": "there is no way to that host",
    "INTERNET_DISCONNECTED": "this machine is offline",
    "TOO_MANY_REDIRECTS": "the server redirects in circles",
    "INVALID_URL": "that is no address",
    "UNSAFE_PORT": "browsers refuse that port",
    "SSL_PROTOCOL_ERROR": "the server speaks no proper TLS there; http:// may work",
}


_RULES = {
    "allowed": "the address was refused",
    "domain": "that domain is not allowed; start again with --allow DOMAIN to reach it",
    "private": "the address leads into this machine or its network; start again with --allow HOST:PORT to reach it",
}


async def navigate(window: Window, action: Navigate) -> str:
    """Open an address in the current tab. Raises Stop: the scheme is refused, or the address cannot be opened; the message says why."""
    check_address(action.url)
    _check_rule(window, action.url)
    refused = window.proxy.refused if window.proxy is not None else 0
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
        await check_barred(window, refused)
        raise Stop("unreachable", _explain(error.message)) from error
    finally:
        window.leaving = False
    await check_barred(window, refused)
    status = window.events.status
    if status is not None and status >= 400:
        raise Stop("http_error", f"the server answers {status}")
    return "opened"


async def _make_room(window: Window) -> None:
    """Have a page that holds all of a host's connections let go of them: until it does, the next one from there is not even asked for."""
    if window.events.in_flight() >= _CONNECTIONS:
        with contextlib.suppress(Error, TimeoutError):  # it hangs, or is leaving already
            await asyncio.wait_for(window.page.evaluate("stop()"), window.limits.probe)


async def _go(window: Window, url: str, seconds: float) -> None:
    """Open an address; once more if the page before it was just leaving for another by itself."""
    for attempt in (1, 2):
        try:
            await window.running(window.page.goto(url, wait_until="commit", timeout=seconds * 1000), seconds + 0.3)
            return
        except Error as error:
            if attempt == 2 or _INTERRUPTED not in error.message:
                raise


async def back(window: Window) -> str:
    """Go one page back. Raises Stop: there is no page before this one."""
    seconds = window.limits.navigation
    before = window.page.url
    try:
        response = await window.running(window.page.go_back(wait_until="commit", timeout=seconds * 1000), seconds + 0.3)
    except TimeoutError as error:
        raise Stop("timed_out", "the page before this one does not come; navigate to it by address") from error
    except Error as error:
        raise Stop("unreachable", _explain(error.message)) from error
    if response is None and window.page.url == before:
        raise Stop("nothing_to_do", "there is no page before this one")
    return "went back"


def check_address(url: str) -> None:
    """Let through web addresses alone. Raises Stop: another scheme, or no address at all."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise Stop("not_possible", "that is no address; give one such as https://host/path") from error
    if url == "about:blank" or (parts.scheme in {"http", "https"} and parts.netloc):
        return
    if not parts.scheme or parts.scheme in {"http", "https"} or "." in parts.scheme:
        raise Stop("not_possible", "that is no full address; give one such as https://host/path")
    raise Stop("refused", "only http:// and https:// addresses are opened")


async def check_barred(window: Window, refused: int) -> None:
    """See whether the document was let through. One that was not leaves an empty tab: what stands in its place is no page.

    Raises:
        Stop: the filter proxy refused it, or found nothing at its address.
    """
    barred = window.events.barred
    if barred is None or window.proxy is None:
        return
    try:
        await window.running(window.page.goto("about:blank"), window.limits.repair)
    except (Error, TimeoutError, DialogOpened, PageLost, PageSilent):
        await window.recover()
    if window.proxy.refused == refused:
        raise Stop("unreachable", "nothing answers at that address, or no host of that name is known")
    raise Stop("refused", _RULES[window.proxy.refusals[-1].reason])


def _check_rule(window: Window, url: str) -> None:
    origin = origin_of(url)
    if window.proxy is not None and origin is not None:
        verdict = window.proxy.rule.judge_name(*origin)
        if verdict != "allowed":
            raise Stop("refused", _RULES[verdict])


def _explain(message: str) -> str:
    code = _NET.search(message)
    if code is None:
        return "the address cannot be opened"
    name = code[1]
    if name.startswith("CERT_"):
        return "the server's certificate is not valid"
    return _SAYS.get(name, f"the address cannot be opened ({name.lower().replace('_', ' ')})")
