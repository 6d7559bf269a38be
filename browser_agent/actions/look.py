"""Looks at the current tab with secrets scrubbed, learns its refs, and shares an answer's room among several looks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from typing import Any
from urllib.parse import urljoin

from playwright.async_api import Error

from browser_agent import actions as act
from browser_agent.actions import ActionResult
from browser_agent.browser.page_events import PageEvents
from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation, OpenDialog
from browser_agent.observation.capture import Capture, Structure, capture_page, flat_capture
from browser_agent.observation.inline import UNSEEN, clean
from browser_agent.observation.observe import Lean, Part, Places, View, list_controls, observe, without_known
from browser_agent.observation.rows import join_extracted
from browser_agent.observation.shorten import NOTHING_BEFORE, Before
from ctxfold.tokens import count

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
        view: which view of it to show.
        need: words of the task; parts that have them come first.
        acted: whether it was acted on since the last look, so that its changes may be enough.
    """

    view: View = field(default_factory=Lean)
    need: str = ""
    acted: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """A page at one moment, and the observation of it, which can be made anew in less room."""

    seen: Observation
    capture: Capture
    how: Look
    before: Before
    pages: int

    @property
    def above(self) -> frozenset[str]:
        """The lines that the same answer shows already, and that are left out here."""
        return self.before.above

    @property
    def alike(self) -> object:
        """Equal for finds, or reads of one part, that leave out each other's lines; None for any other look."""
        match self.how.view:
            case Places(links=links):
                return links
            case Part(links=False) as part:
                return part
            case _:
                return None

    async def within(self, room: int, above: frozenset[str] = frozenset()) -> Sight:
        """This look in `room` o200k tokens, without the lines `above`."""
        before = replace(self.before, above=above)
        view, need, pages = self.how.view, self.how.need, self.pages
        seen = await asyncio.to_thread(
            observe, self.capture, view=view, need=need, budget=room, pages=pages, before=before
        )
        return replace(self, seen=seen, before=before)


@dataclass(frozen=True, slots=True)
class Collected:
    """The values of several pages, and the observation of them, which can be made anew in less room."""

    seen: Observation
    pages: tuple[Observation, ...]
    above: frozenset[str] = frozenset()
    alike: object = None

    async def within(self, room: int, above: frozenset[str] = frozenset()) -> Collected:
        """These values in `room` o200k tokens. Nothing shown `above` repeats them."""
        return replace(self, seen=join_extracted(self.pages, room), above=above)


Showing = Sight | Collected
"""What can be shown in more room or less."""


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
            await events.until(partial(_is_loaded, events), window.limits.repair)
    if late:
        raise PageSilent
    raise PageLost("went on changing faster than it can be read and was closed")


def _is_loaded(events: PageEvents) -> bool:
    return not events.is_loading()


async def _capture_words(window: Window, elements: int) -> Capture:
    """The words alone, without refs, of a page that gives no snapshot: it is too large, or not all there."""
    why = _COMING if window.events.is_loading() else _LARGE
    most = max(window.limits.to_observe(elements) / 2, window.limits.repair)
    try:
        return await window.run(flat_capture(window.page, window.events.status, why), most)
    except (TimeoutError, Error, DialogOpened) as error:
        raise PageSilent from error


async def _show(window: Window, capture: Capture, how: Look) -> Sight:
    window.note_title(clean(window.settings.secrets.scrub(capture.structure.title)))
    capture = replace(capture, tabs=window.list_tabs(), notes=_list_notes(window))
    capture = _scrub_capture(window.settings.secrets, capture)
    most, before = window.settings.budget, _find_before(window, capture, how)
    seen = await asyncio.to_thread(observe, capture, view=how.view, need=how.need, budget=most, before=before)
    window.remember(seen)
    return Sight(seen, capture, how, before, most)


def _list_notes(window: Window) -> tuple[str, ...]:
    """What a snapshot of the page does not show, in our words."""
    notes = []
    if window.events.is_loading():
        notes.append("still coming in; wait_for load brings the rest")
    if window.events.kind == "application/pdf":
        notes.append("a PDF, which the browser draws: none of it can be read here")
    barred = window.events.list_barred(window.proxy.refusals if window.proxy is not None else ())
    if barred:
        notes.append(f"parts of this page were not let through; --allow {' --allow '.join(barred)} would")
    return tuple(notes)


def _find_before(window: Window, capture: Capture, how: Look) -> Before:
    """What a reader who keeps earlier observations need not be shown again."""
    if not window.settings.keeps:
        return NOTHING_BEFORE
    last, known = window.last, window.furniture.known_on(capture.url)
    same = how.acted and last is not None and last.lines and _strip_query(last.url) == _strip_query(capture.url)
    return Before(last.lines if same and last is not None and capture.dialog is None else None, known)


def _strip_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _scrub_capture(secrets: Secrets, capture: Capture) -> Capture:
    """`capture` with placeholders for secrets in all its texts."""
    if not secrets.all:
        return capture

    def scrub(text: str) -> str:
        return secrets.scrub(UNSEEN.sub("", text))  # marks that do not show must not hide a value

    texts: list[str] = []

    def note(text: str) -> str:
        texts.append(text)
        return text

    dialog, structure = capture.dialog, capture.structure
    dumped = _map_texts(structure.model_dump(), note)
    words = UNSEEN.sub("", "\n".join(texts))
    if secrets.scrub(words) != words:  # thousands of texts: each by itself only where there is something to find
        structure = Structure.model_validate(_map_texts(dumped, scrub))
    return replace(
        capture,
        url=scrub(capture.url),
        yaml=secrets.scrub(UNSEEN.sub("", capture.yaml), _MARKUP),
        structure=structure,
        frames={ref: scrub(url) for ref, url in capture.frames.items()},
        dialog=dialog.model_copy(update={"message": scrub(dialog.message)}) if dialog is not None else None,
        tabs=tuple(tab.model_copy(update={"url": scrub(tab.url), "title": scrub(tab.title)}) for tab in capture.tabs),
    )


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with `change` applied to every text in it."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_map_texts(inner, change) for inner in value]
    return value


async def collect(
    window: Window,
    action: act.ExtractValues,
    do: Callable[[act.PageAction], Awaitable[ActionResult]],
    read: Callable[[ActionResult], Awaitable[ActionResult]],
    room: int,
) -> tuple[ActionResult, Collected | None]:
    """Extract values from the page, then from each further address of an action, on each after the click it names.

    Args:
        window: where to act.
        action: the extraction.
        do: does one action and waits until the page rests.
        read: adds its observation to the result of an action that reads.
        room: the most the values may cost, in o200k tokens.

    Returns:
        The result, and the values; None if no page was read. It stops at the first page that cannot be opened or read,
        or when the call has no time left.
    """
    here, total = window.page.url, 1 + len(action.urls)
    single = action.model_copy(update={"urls": (), "click": None})
    pages: list[Observation] = []
    unclicked: list[str] = []
    result = await do(single)
    for url in ("", *action.urls):
        result = await do(act.Navigate(kind="navigate", url=urljoin(here, url))) if url else result
        if result.ok and action.click is not None:
            clicked = await do(act.Click(kind="click", ref=action.click))
            unclicked += [] if clicked.ok else [clicked.message]
        result = await read(result.model_copy(update={"action": single})) if result.ok else result
        if not result.ok or result.seen is None:
            break
        pages.append(result.seen)
        if window.spent > window.limits.call and len(pages) < total:
            result = result.model_copy(update={"kind": "timed_out", "message": "no time left"})
            break
    message = result.message if result.ok else f"{result.message}; {len(pages)} of {total} pages were read"
    note = f"not clicked on {len(unclicked)} of {total} pages: {unclicked[0]}" if unclicked else ""
    taken = Collected(join_extracted(pages, room), tuple(pages)) if pages else None
    changes = {"action": action, "message": message, "seen": taken.seen if taken is not None else None, "note": note}
    return result.model_copy(update=changes), taken


async def share(sights: Sequence[Showing], room: int) -> tuple[Showing, ...]:
    """Show several looks in `room` o200k tokens together.

    Each gets the room it wants if all fit; else the small ones get it, and the large ones equal parts. A line of a page
    that is found or read again is shown once.
    """
    whole: list[Showing] = []
    for sight in sights:
        above = _find_above(whole, sight)
        whole.append(await sight.within(room, above) if above & sight.seen.places else sight)
    shown: list[Showing] = []
    wanted = [_weigh(whole, number) for number in range(len(whole))]
    for number, sight in enumerate(whole):
        above = _find_above(shown, sight)
        most = _find_portion(wanted[number:], room)
        fits = wanted[number] <= most and above >= sight.above
        shown.append(sight if fits else await sight.within(most + _weigh_repeated(shown, sight.seen), above))
        room -= _weigh(shown, number) + _GAP
    for number, sight in enumerate(shown):  # what later ones did not use
        cost = _weigh(shown, number)
        if cost < wanted[number] and room > _GAP:
            most = cost + room + _weigh_repeated(shown[:number], sight.seen)
            shown[number] = await sight.within(most, sight.above)
            room -= _weigh(shown, number) - cost
    return tuple(shown)


def _find_portion(wanted: Sequence[int], room: int) -> int:
    """The room of the first: at most an equal part of the room that those which want less leave."""
    left = max(room, 0)
    for number, each in enumerate(sorted(wanted)):
        part = left // (len(wanted) - number)
        if each > part or each == wanted[0]:
            return min(wanted[0], part)
        left -= each
    return left


def _weigh(sights: Sequence[Showing], number: int) -> int:
    seen = sights[number].seen
    return seen.tokens - _weigh_repeated(sights[:number], seen)


def _weigh_repeated(before: Sequence[Showing], seen: Observation) -> int:
    """The tokens of the lines of its heading that the look before shows already."""
    return seen.tokens - count(without_known(seen, before[-1].seen)) if before else 0


def _find_above(shown: Sequence[Showing], sight: Showing) -> frozenset[str]:
    """The lines of the same page in earlier looks that are alike, if they were still there at the last of these."""
    page = (sight.seen.url, sight.seen.title)
    above: frozenset[str] = frozenset()
    for seen in (one.seen for one in shown if sight.alike is not None and one.alike == sight.alike):
        if (seen.url, seen.title) == page:
            above = (above & seen.lines) | seen.places
    return above
