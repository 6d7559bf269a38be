"""Takes the values of a schema off several pages, one after another, and puts them together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urljoin

from browser_agent.actions import union as act
from browser_agent.actions.outcome import ActionResult
from browser_agent.browser.window import Window
from browser_agent.observation.fields import join_extracted

__all__ = ["collect"]


async def collect(
    window: Window,
    action: act.Extract,
    do: Callable[[act.PageAction], Awaitable[ActionResult]],
    read: Callable[[ActionResult], Awaitable[ActionResult]],
    room: int,
) -> ActionResult:
    """Extract from the page as it stands, then from each further address of the action. `do` does one action and waits until the page rests, `read` adds what one that reads showed; `room`: o200k tokens for all of it.

    Returns:
        What came of it, with all values as what it showed; it stops at the first page that cannot be opened or read.
    """
    here = window.page.url
    one = action.model_copy(update={"urls": ()})
    result = await read(await do(one))
    pages = [result.seen] if result.seen is not None else []
    for url in action.urls if result.ok else ():
        result = await do(act.Navigate(kind="navigate", url=urljoin(here, url)))
        result = await read(result.model_copy(update={"action": one})) if result.ok else result
        if not result.ok or result.seen is None:
            break
        pages.append(result.seen)
    told = result.message if result.ok else f"{result.message}; {len(pages)} of {1 + len(action.urls)} pages were read"
    seen = join_extracted(pages, room) if pages else None
    return result.model_copy(update={"action": action, "message": told, "seen": seen})
