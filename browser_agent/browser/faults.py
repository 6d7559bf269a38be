"""Tells a page that does not answer yet from one that is hung, crashed or closed."""

from __future__ import annotations

import asyncio

from playwright.async_api import Error, Page

from browser_agent.browser.page_events import PageEvents

__all__ = ["DialogOpened", "PageLost", "PageSilent", "check_answers", "check_gone"]

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
