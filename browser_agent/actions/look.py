"""Observes a window's current tab with secrets masked, and remembers the refs of its controls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, assert_never
from urllib.parse import urljoin

from playwright.async_api import Error

from browser_agent import actions as act
from browser_agent.actions import ActionResult
from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation, OpenDialog
from browser_agent.observation.capture import Capture, Structure, capture_page, flat_capture
from browser_agent.observation.inline import UNSEEN, clean
from browser_agent.observation.observe import Fields, Lean, Part, Places, View, list_controls, observe, without_known
from browser_agent.observation.rows import join_extracted
from browser_agent.observation.shorten import NOTHING_BEFORE, Before
from ctxfold.tokens import count

_LOOKS = 3
_LEAST_LOOK = 1.2
_MOST_ELEMENTS = 120_000
_READY = files("browser_agent.actions").joinpath("ready.js").read_text(encoding="utf-8")
_LOADING = "- text: (the next page has not answered yet; wait for it with wait_for load, or navigate elsewhere)"
_COMING = (
    "This page is still coming in; what is there of it follows, without refs. Wait for the rest with wait_for load."
)
_MARKUP = re.compile(r"\[[^\]\n]*\]|^ *- /?[a-z]+", re.MULTILINE)
"""What a snapshot puts between the words of two elements."""
_LARGE = "This page is too large to be addressed; its words follow, without refs."


async def look_for_refs(window: Window) -> None:
    """Take note of the refs that live now; what was shown last stays that. Raises PageSilent, PageLost: as `look` does."""
    capture = scrub_capture(window.settings.secrets, await read_tab(window))
    window.controls.know(await asyncio.to_thread(list_controls, capture), window.page.url)


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


async def read_tab(window: Window) -> Capture:
    """Read the current tab; once more if its document was replaced meanwhile, or it was late to say how large it is."""
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
            return await window.running(capture_page(page, events.status, most), most + 0.3)
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
    raise PageLost("went on changing faster than it can be read and was closed")


async def _capture_words(window: Window, elements: int) -> Capture:
    """A page that answers but gives no snapshot, as it is too large or not all there: its words alone, without refs."""
    why = _COMING if window.events.loading() else _LARGE
    most = max(window.limits.to_observe(elements) / 2, window.limits.repair)
    try:
        return await window.running(flat_capture(window.page, window.events.status, why), most)
    except (TimeoutError, Error, DialogOpened) as error:
        raise PageSilent from error


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
    return await _show(window, await read_tab(window), how)


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
    action: act.ExtractValues,
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


Showing = Sight | Collected
"""What can be shown in more room or less."""

_GAP = 1
"""Tokens between two texts."""


async def share(sights: Sequence[Showing], room: int) -> tuple[Showing, ...]:
    """Show several looks in `room` o200k tokens together: each as it wants where all fit, else the small ones so and the large ones alike; a line of a page that is found or read again stands once."""
    whole: list[Showing] = []
    for sight in sights:
        above = _shown_above(whole, sight)
        whole.append(await sight.within(room, above) if above & sight.seen.places else sight)
    shown: list[Showing] = []
    wanted = [_cost(whole, at) for at in range(len(whole))]
    for at, sight in enumerate(whole):
        above = _shown_above(shown, sight)
        most = _portion(wanted[at:], room)
        fits = wanted[at] <= most and above >= sight.above
        shown.append(sight if fits else await sight.within(most + _repeated(shown, sight.seen), above))
        room -= _cost(shown, at) + _GAP
    for at, sight in enumerate(shown):  # what later ones did not use
        cost = _cost(shown, at)
        if cost < wanted[at] and room > _GAP:
            most = cost + room + _repeated(shown[:at], sight.seen)
            shown[at] = await sight.within(most, sight.above)
            room -= _cost(shown, at) - cost
    return tuple(shown)


def _portion(wanted: Sequence[int], room: int) -> int:
    """How much of the room the first takes: what it wants, at most an equal part of what those that want less leave."""
    left = max(room, 0)
    for number, each in enumerate(sorted(wanted)):
        part = left // (len(wanted) - number)
        if each > part or each == wanted[0]:
            return min(wanted[0], part)
        left -= each
    return left


def _cost(sights: Sequence[Showing], at: int) -> int:
    seen = sights[at].seen
    return seen.tokens - _repeated(sights[:at], seen)


def _repeated(before: Sequence[Showing], seen: Observation) -> int:
    """What the lines of its heading cost that stand above already."""
    return seen.tokens - count(without_known(seen, before[-1].seen)) if before else 0


def _shown_above(shown: Sequence[Showing], sight: Showing) -> frozenset[str]:
    """The lines of the same page that stand in those before it that are alike, and were there still when it was looked at last."""
    page = (sight.seen.url, sight.seen.title)
    above: frozenset[str] = frozenset()
    for seen in (one.seen for one in shown if sight.alike is not None and one.alike == sight.alike):
        if (seen.url, seen.title) == page:
            above = (above & seen.lines) | seen.places
    return above
