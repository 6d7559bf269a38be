"""Observes a window's current tab with secrets masked, and remembers the refs of its controls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from playwright.async_api import Error

from browser_agent.browser.faults import DialogOpened, PageLost, PageSilent
from browser_agent.browser.window import Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation.before import NOTHING_BEFORE, Before
from browser_agent.observation.capture import Capture, Structure, capture_page, flat_capture
from browser_agent.observation.inline import UNSEEN, clean
from browser_agent.observation.observe import Fields, Lean, View, observe
from browser_agent.observation.values import Observation, OpenDialog

_LOOKS = 3
_LEAST_LOOK = 1.2
_MOST_ELEMENTS = 120_000
_READY = files("browser_agent.actions").joinpath("ready.js").read_text(encoding="utf-8")
_LOADING = "- text: (the next page has not answered yet; wait for it with wait_for load, or navigate elsewhere)"
_COMING = (
    "This page is still coming in; what is there of it follows, without refs. Wait for the rest with wait_for load."
)
_ON_ITS_WAY = (
    "- text: (the page is still coming in and does not answer yet; wait_for load brings it, or navigate elsewhere)"
)
_SILENT = "- text: (the page is busy and does not answer yet; look again in a moment, or navigate elsewhere)"
_MARKUP = re.compile(r"\[[^\]\n]*\]|^ *- /?[a-z]+", re.MULTILINE)
"""What a snapshot puts between the words of two elements."""
_LARGE = "This page is too large to be addressed; its words follow, without refs."


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

    async def within(self, room: int, above: frozenset[str] = frozenset()) -> Sight:
        """This in `room` o200k tokens, without the places whose lines stand `above`."""
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
    return await _show(window, await _capture(window, isinstance(how.view, Fields)), how)


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


def scrub_capture(secrets: Secrets, capture: Capture) -> Capture:
    """`capture` with placeholders for secrets, wherever in it they stand."""
    if not secrets.all:
        return capture

    def scrub(text: str) -> str:
        return secrets.scrub(UNSEEN.sub("", text))  # marks that do not show must not hide a value

    found = replace(
        capture,
        url=scrub(capture.url),
        yaml=secrets.scrub(UNSEEN.sub("", capture.yaml), _MARKUP),
        frames={ref: scrub(url) for ref, url in capture.frames.items()},
        dialog=OpenDialog.model_validate(_mapped(capture.dialog.model_dump(), scrub)) if capture.dialog else None,
        tabs=tuple(tab.model_copy(update={"url": scrub(tab.url), "title": scrub(tab.title)}) for tab in capture.tabs),
    )
    told = capture.structure.model_dump()
    texts = UNSEEN.sub("", "\n".join(_texts(told)))
    if secrets.scrub(texts) == texts:  # thousands of texts: each by itself only where there is something to find
        return found
    return replace(found, structure=Structure.model_validate(_mapped(told, scrub)))


def _texts(value: Any) -> Iterator[str]:
    """Every string in `value`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(inner, change) for inner in value]
    return value


async def _capture(window: Window, cards: bool) -> Capture:
    """Read the current tab, with `cards` the groups of alike elements too; once more if its document was replaced meanwhile, or it was late to say how large it is."""
    late = False
    for _ in range(_LOOKS):
        page, events, elements = window.page, window.events, 0
        if events.unanswered():
            return Capture(page.url, None, _LOADING, Structure())
        try:
            elements = int(await window.running(page.evaluate(_READY), max(_LEAST_LOOK, window.left())))
            if elements > _MOST_ELEMENTS:
                return await _capture_words(window, elements)
            most = window.limits.to_observe(elements)
            return await window.running(capture_page(page, events.status, most, cards=cards), most + 0.3)
        except DialogOpened:
            opened = window.dialog and {"kind": window.dialog.type, "message": window.dialog.message}
            dialog = OpenDialog.model_validate(opened) if opened else None
            return Capture(page.url, events.status, "", Structure(), dialog=dialog)
        except TimeoutError:
            late = True
            if elements:
                return await _capture_words(window, elements)
        except Error:
            await events.until(lambda events=events: not events.loading(), window.limits.repair)  # type: ignore[misc]
    if late:
        raise PageSilent
    raise PageLost("changing faster than it can be read")


async def _capture_words(window: Window, elements: int) -> Capture:
    """A page that answers but gives no snapshot, as it is too large or not all there: its words alone, without refs."""
    why = _COMING if window.events.loading() else _LARGE
    most = max(window.limits.to_observe(elements) / 2, window.limits.repair)
    try:
        return await window.running(flat_capture(window.page, window.events.status, why), most)
    except (TimeoutError, Error, DialogOpened) as error:
        raise PageSilent from error
