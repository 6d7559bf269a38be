"""Takes the values of a schema off several pages, one after another, and puts them together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from browser_agent.actions import union as act
from browser_agent.actions.outcome import ActionResult
from browser_agent.browser.window import Window
from browser_agent.observation.rows import join_extracted
from browser_agent.observation.values import Observation

__all__ = ["Collected", "collect"]


@dataclass(frozen=True, slots=True)
class Collected:
    """The values of several pages, and what was shown of them, which can be shown anew in less room."""

    seen: Observation
    pages: tuple[Observation, ...]
    above: frozenset[str] = frozenset()
    alike: object = None

    async def within(self, room: int, above: frozenset[str] = frozenset()) -> Collected:
        """This in `room` o200k tokens; nothing that stands `above` is like it."""
        return replace(self, seen=join_extracted(self.pages, room), above=above)


async def collect(
    window: Window,
    action: act.Extract,
    do: Callable[[act.PageAction], Awaitable[ActionResult]],
    read: Callable[[ActionResult], Awaitable[ActionResult]],
    room: int,
) -> tuple[ActionResult, Collected | None]:
    """Extract from the page as it stands, then from each further address of the action; on each after a click on what the action calls so, where it is there. `do` does one action and waits until the page rests, `read` adds what one that reads showed; `room`: o200k tokens of an answer.

    Returns:
        What came of it, with all values as what it showed, and these; None where no page was read. It stops at the first page that cannot be opened or read, or when the call has no time left.
    """
    here, count = window.page.url, 1 + len(action.urls)
    one = action.model_copy(update={"urls": (), "click": None})
    pages: list[Observation] = []
    unclicked: list[str] = []
    result = await do(one)
    for url in ("", *action.urls):
        result = await do(act.Navigate(kind="navigate", url=urljoin(here, url))) if url else result
        if result.ok and action.click is not None:
            clicked = await do(act.Click(kind="click", ref=action.click))
            unclicked += [] if clicked.ok else [clicked.message]
        result = await read(result.model_copy(update={"action": one})) if result.ok else result
        if not result.ok or result.seen is None:
            break
        pages.append(result.seen)
        if window.spent() > window.limits.call and len(pages) < count:
            result = result.model_copy(update={"kind": "timed_out", "message": "no time left"})
            break
    told = result.message if result.ok else f"{result.message}; {len(pages)} of {count} pages were read"
    note = f"not clicked on {len(unclicked)} of {count} pages: {unclicked[0]}" if unclicked else ""
    taken = Collected(join_extracted(pages, room), tuple(pages)) if pages else None
    seen = taken.seen if taken is not None else None
    return result.model_copy(update={"action": action, "message": told, "seen": seen, "note": note}), taken
