"""Observes a window's current tab with secrets masked, and remembers the refs of its controls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import assert_never

from browser_agent.actions.reading import read_tab, scrub_capture
from browser_agent.browser.window import Window
from browser_agent.observation.before import NOTHING_BEFORE, Before
from browser_agent.observation.capture import Capture, Structure
from browser_agent.observation.inline import clean
from browser_agent.observation.observe import Fields, Lean, Part, Places, View, observe
from browser_agent.observation.values import Observation

_ON_ITS_WAY = (
    "- text: (the page is still coming in and does not answer yet; wait_for load brings it, or navigate elsewhere)"
)
_SILENT = "- text: (the page is busy and does not answer yet; look again in a moment, or navigate elsewhere)"


@dataclass(frozen=True, slots=True)
class Look:
    """How to look at a page.

    Attributes:
        view: which view of it to show.
        need: what the task is after; parts that name it come first.
        acted: it was acted on since the last look, so what changed may do.
    """

    view: View = field(default_factory=Lean)
    need: str = ""
    acted: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """A page at one moment, and what was shown of it, which can be shown anew in less room."""

    seen: Observation
    capture: Capture
    how: Look
    before: Before
    pages: int

    @property
    def above(self) -> frozenset[str]:
        """The lines that stand in the same answer already, and are left out of it."""
        return self.before.above

    @property
    def alike(self) -> object:
        """What is equal for those whose lines are not said twice, finds or reads of one part; None for one that stands for itself."""
        match self.how.view:
            case Places(links=links):
                return links
            case Part(links=False) as part:
                return part
            case Lean() | Part() | Fields():
                return None
            case _:
                assert_never(self.how.view)

    async def within(self, room: int, above: frozenset[str] = frozenset()) -> Sight:
        """This in `room` o200k tokens, without the lines that stand `above`."""
        before = replace(self.before, above=above)
        seen = await asyncio.to_thread(
            observe,
            self.capture,
            view=self.how.view,
            need=self.how.need,
            budget=room,
            pages=self.pages,
            before=before,
        )
        return replace(self, seen=seen, before=before)


async def look(window: Window, how: Look) -> Sight:
    """Observe the current tab, and remember its refs as the ones that live now.

    Raises:
        PageSilent: it does not answer now.
        PageLost: it has not answered for long, crashed or closed.
    """
    return await _show(window, await read_tab(window, isinstance(how.view, Fields)), how)


async def look_from_outside(window: Window) -> Sight:
    """Observe a tab that does not answer: its address, and that it is coming in or does not answer."""
    why = _ON_ITS_WAY if window.events.loading() else _SILENT
    return await _show(window, Capture(window.page.url, window.events.status, why, Structure()), Look())


async def _show(window: Window, capture: Capture, how: Look) -> Sight:
    window.note_title(clean(window.settings.secrets.scrub(capture.structure.title)))
    capture = scrub_capture(window.settings.secrets, replace(capture, tabs=window.tabs(), notes=_notes(window)))
    most, before = window.settings.budget, _before(window, capture, how)
    seen = await asyncio.to_thread(observe, capture, view=how.view, need=how.need, budget=most, before=before)
    window.remember(seen)
    return Sight(seen, capture, how, before, most)


def _notes(window: Window) -> tuple[str, ...]:
    """What of a page cannot be seen in its snapshot, in words of ours."""
    notes = []
    if window.events.loading():
        notes.append("still coming in; wait_for load brings the rest")
    if window.events.kind == "application/pdf":
        notes.append("a PDF, which the browser draws: none of it can be read here")
    barred = window.events.barred_parts(window.proxy.refusals if window.proxy is not None else ())
    if barred:
        notes.append(f"parts of this page were not let through; --allow {' --allow '.join(barred)} would")
    return tuple(notes)


def _before(window: Window, capture: Capture, how: Look) -> Before:
    """What a reader who keeps earlier observations need not be shown again."""
    if not window.settings.keeps:
        return NOTHING_BEFORE
    last, known = window.last, window.furniture.known_on(capture.url)
    same = how.acted and last is not None and last.lines and _place(last.url) == _place(capture.url)
    return Before(last.lines if same and last is not None and capture.dialog is None else None, known)


def _place(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]
