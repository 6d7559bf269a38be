"""Looks at the current tab with secrets scrubbed, learns its refs, and shares an answer's room among several looks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from playwright.async_api import Error

from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation, OpenDialog, View
from browser_agent.observation.capture import Capture, Structure, capture_page, flat_capture
from browser_agent.observation.inline import UNSEEN, clean
from browser_agent.observation.observe import list_controls, observe
from browser_agent.observation.shorten import Interest
from ctxfold.text.json import map_texts
from ctxfold.tokens import find_portion

_LOOKS = 3
"""So often a page is read anew if its document was replaced meanwhile."""
_LEAST_LOOK = 1.2
"""Seconds a page has at least to say how large it is."""
_MOST_ELEMENTS = 120_000
"""A page of more elements gives no snapshot in time: its words alone are shown."""
_READY = files("browser_agent.actions").joinpath("ready.js").read_text(encoding="utf-8")
_LOADING = "- text: (the next page has not answered yet; wait for it with wait_for load, or navigate elsewhere)"
_COMING = (
    "This page is still coming in; what is there of it follows, without refs. Wait for the rest with wait_for load."
)
_LARGE = "This page is too large to be addressed; its words follow, without refs."
_ON_ITS_WAY = (
    "- text: (the page is still coming in and does not answer yet; wait_for load brings it, or navigate elsewhere)"
)
_SILENT = "- text: (the page is busy and does not answer yet; look again in a moment, or navigate elsewhere)"
_MARKUP = re.compile(r"\[[^\]\n]*\]|^ *- /?[a-z]+", re.MULTILINE)
"""What a snapshot puts between the words of two elements."""
_GAP = 1
"""Tokens between two texts."""


@dataclass(frozen=True, slots=True)
class Look:
    """How to look at a page.

    Attributes:
        view: what to show of it; None shows what matters.
        need: words of the task; parts that have them come first.
        earlier: a look of which the reader knows the lines: if the page is the same, its changes may be enough.
    """

    view: View | None = None
    need: str = ""
    earlier: Observation | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """A look at a page: its observation, the view it shows, and `show`, which makes it anew within a token budget."""

    seen: Observation
    view: View | None
    show: Callable[[int], Observation]


async def look(window: Window, how: Look) -> Sight:
    """Observe the current tab, and take its refs as the ones that live now.

    Raises:
        PageSilent: it does not answer now.
        PageLost: it has not answered for long, crashed or closed.
    """
    return await _show(window, await _read_tab(window), how)


async def look_from_outside(window: Window) -> Sight:
    """Observe a tab that does not answer: its address, and that it is coming in or does not answer."""
    why = _ON_ITS_WAY if window.events.is_loading() else _SILENT
    return await _show(window, Capture(window.page.url, window.events.status, why, Structure()), Look())


async def look_for_refs(window: Window) -> None:
    """Learn the refs that live now, without showing the page. Raises PageSilent, PageLost: as `look` does."""
    capture = _scrub_capture(window.settings.secrets, await _read_tab(window))
    window.controls.learn(await asyncio.to_thread(list_controls, capture), window.page.url)


async def _read_tab(window: Window) -> Capture:
    """Read the current tab; once more if its document was replaced meanwhile, or it was late to say how large it is."""
    late = False
    for _ in range(_LOOKS):
        page, events, elements = window.page, window.events, 0
        if events.is_unanswered():
            return Capture(page.url, None, _LOADING, Structure())
        try:
            elements = int(await window.run(page.evaluate(_READY), max(_LEAST_LOOK, window.left)))
            if elements > _MOST_ELEMENTS:
                return await _capture_words(window, elements)
            most = window.limits.to_observe(elements)
            return await window.run(capture_page(page, events.status, most), most + 0.3)
        except DialogOpened:
            opened = window.dialog and {"kind": window.dialog.type, "message": window.dialog.message}
            dialog = OpenDialog.model_validate(opened) if opened else None
            return Capture(page.url, events.status, "", Structure(), dialog=dialog)
        except TimeoutError:
            late = True
            if elements:
                return await _capture_words(window, elements)
        except Error:
            await events.until(lambda: not window.events.is_loading(), window.limits.repair)
    if late:
        raise PageSilent
    raise PageLost("went on changing faster than it can be read and was closed")


async def _capture_words(window: Window, elements: int) -> Capture:
    """Return the words alone, without refs, of a page that gives no snapshot: it is too large, or not all there."""
    why = _COMING if window.events.is_loading() else _LARGE
    most = max(window.limits.to_observe(elements) / 2, window.limits.repair)
    try:
        return await window.run(flat_capture(window.page, window.events.status, why), most)
    except (TimeoutError, Error, DialogOpened) as error:
        raise PageSilent from error


async def _show(window: Window, capture: Capture, how: Look) -> Sight:
    """Scrub a capture, observe it as asked, and take its refs as the ones that live now."""
    window.titles[window.page] = clean(window.settings.secrets.scrub(capture.structure.title))
    capture = replace(capture, tabs=window.list_tabs(), notes=_list_notes(window))
    capture = _scrub_capture(window.settings.secrets, capture)
    most, interest = window.settings.budget, _find_interest(window, capture, how)

    def show(room: int) -> Observation:
        return observe(capture, view=how.view, interest=interest, budget=room, pages=most)

    seen = await asyncio.to_thread(show, most)
    window.remember(seen)
    return Sight(seen, how.view, show)


def _list_notes(window: Window) -> tuple[str, ...]:
    """Return notes on the page that its snapshot does not show."""
    notes = []
    if window.events.is_loading():
        notes.append("still coming in; wait_for load brings the rest")
    if window.events.kind == "application/pdf":
        notes.append("a PDF, which the browser draws: none of it can be read here")
    barred = window.events.list_barred(window.proxy.refusals if window.proxy is not None else ())
    if barred:
        notes.append(f"parts of this page were not let through; --allow {' --allow '.join(barred)} would")
    return tuple(notes)


def _find_interest(window: Window, capture: Capture, how: Look) -> Interest:
    """Return what a look is for, and the lines that a reader who keeps earlier observations need not be shown again."""
    if not window.settings.keeps:
        return Interest(how.need)
    earlier, known = how.earlier, window.furniture.find_known(capture.url)
    is_same = earlier is not None and _strip_query(earlier.url) == _strip_query(capture.url) and capture.dialog is None
    return Interest(how.need, earlier.lines or None if earlier is not None and is_same else None, known)


def _strip_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _scrub_capture(secrets: Secrets, capture: Capture) -> Capture:
    """`capture` with placeholders for secrets in all its texts."""
    if not secrets.all:
        return capture

    def scrub(text: str) -> str:
        return secrets.scrub(UNSEEN.sub("", text))  # marks that do not show must not hide a value

    dialog, structure = capture.dialog, capture.structure
    dumped, texts = structure.model_dump(), list[str]()
    map_texts(dumped, texts.append)
    words = UNSEEN.sub("", "\n".join(texts))
    if secrets.scrub(words) != words:  # thousands of texts: each by itself only where there is something to find
        structure = Structure.model_validate(map_texts(dumped, scrub))
    return replace(
        capture,
        url=scrub(capture.url),
        yaml=secrets.scrub(UNSEEN.sub("", capture.yaml), _MARKUP),
        structure=structure,
        frames={ref: scrub(url) for ref, url in capture.frames.items()},
        dialog=dialog.model_copy(update={"message": scrub(dialog.message)}) if dialog is not None else None,
        tabs=tuple(tab.model_copy(update={"url": scrub(tab.url), "title": scrub(tab.title)}) for tab in capture.tabs),
    )


async def share_room(sights: Sequence[Sight], room: int) -> tuple[Observation, ...]:
    """Show several looks in `room` o200k tokens together: the small ones as they are, the large ones in equal parts."""
    most = find_portion([sight.seen.tokens + _GAP for sight in sights], room) - _GAP
    return tuple(
        [sight.seen if sight.seen.tokens <= most else await asyncio.to_thread(sight.show, most) for sight in sights]
    )
