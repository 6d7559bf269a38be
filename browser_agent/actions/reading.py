"""Reads a window's current tab whole, with secrets masked, and takes note of the refs that live now."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

from playwright.async_api import Error

from browser_agent.browser.faults import DialogOpened, PageLost, PageSilent
from browser_agent.browser.window import Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation.addressing import list_controls
from browser_agent.observation.capture import Capture, Structure, capture_page, flat_capture
from browser_agent.observation.inline import UNSEEN
from browser_agent.observation.values import OpenDialog

__all__ = ["look_for_refs", "read_tab", "scrub_capture"]

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
    capture = scrub_capture(window.settings.secrets, await read_tab(window, False))
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


async def read_tab(window: Window, cards: bool) -> Capture:
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
    raise PageLost("went on changing faster than it can be read and was closed")


async def _capture_words(window: Window, elements: int) -> Capture:
    """A page that answers but gives no snapshot, as it is too large or not all there: its words alone, without refs."""
    why = _COMING if window.events.loading() else _LARGE
    most = max(window.limits.to_observe(elements) / 2, window.limits.repair)
    try:
        return await window.running(flat_capture(window.page, window.events.status, why), most)
    except (TimeoutError, Error, DialogOpened) as error:
        raise PageSilent from error
