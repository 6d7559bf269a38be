"""Observes a window's current tab with secrets masked, and remembers the refs of its controls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from playwright.async_api import Error

from browser_agent.browser.window import DialogOpened, PageLost, Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation.capture import Capture, Structure, capture_page, flat_capture
from browser_agent.observation.inline import UNSEEN, clean
from browser_agent.observation.observe import View, observe
from browser_agent.observation.values import Observation, OpenDialog

_LOOKS = 3
_LEAST_LOOK = 1.2
_LOADING = "- text: (the next page has not answered yet; wait for it with wait_for load, or navigate elsewhere)"
_COMING = (
    "This page is still coming in; what is there of it follows, without refs. Wait for the rest with wait_for load."
)
_LARGE = "This page is too large to be addressed; its words follow, without refs."


async def look(window: Window, view: View, need: str) -> Observation:
    """Observe the current tab, and remember its refs as the ones that live now.

    Raises:
        PageLost: it does not answer, crashed or closed.
    """
    capture = await _capture(window)
    window.note_title(clean(window.settings.secrets.scrub(capture.structure.title)))
    capture = scrub_capture(window.settings.secrets, replace(capture, tabs=window.tabs()))
    observation = await asyncio.to_thread(observe, capture, view=view, need=need, budget=window.settings.budget)
    window.remember(observation)
    return observation


def scrub_capture(secrets: Secrets, capture: Capture) -> Capture:
    """`capture` with placeholders for secrets, wherever in it they stand."""
    if not secrets.all:
        return capture

    def scrub(text: str) -> str:
        return secrets.scrub(UNSEEN.sub("", text))  # marks that do not show must not hide a value

    return replace(
        capture,
        url=scrub(capture.url),
        yaml=scrub(capture.yaml),
        structure=Structure.model_validate(_mapped(capture.structure.model_dump(), scrub)),
        frames={ref: scrub(url) for ref, url in capture.frames.items()},
        dialog=OpenDialog.model_validate(_mapped(capture.dialog.model_dump(), scrub)) if capture.dialog else None,
        tabs=tuple(tab.model_copy(update={"url": scrub(tab.url), "title": scrub(tab.title)}) for tab in capture.tabs),
    )


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(inner, change) for inner in value]
    return value


async def _capture(window: Window) -> Capture:
    """Read the current tab; once more if its document was replaced meanwhile."""
    for _ in range(_LOOKS):
        most = min(window.limits.observe, max(_LEAST_LOOK, window.left() - window.limits.probe))
        page, events = window.page, window.events
        if events.unanswered():
            return Capture(page.url, None, _LOADING, Structure())
        try:
            return await window.running(capture_page(page, events.status, most), most + 0.3)
        except DialogOpened:
            opened = window.dialog and {"kind": window.dialog.type, "message": window.dialog.message}
            dialog = OpenDialog.model_validate(opened) if opened else None
            return Capture(page.url, events.status, "", Structure(), dialog=dialog)
        except TimeoutError:
            return await _capture_words(window)
        except Error:
            await events.until(lambda events=events: not events.loading(), window.limits.repair)  # type: ignore[misc]
    raise PageLost("changing faster than it can be read")


async def _capture_words(window: Window) -> Capture:
    """A page that answers but gives no snapshot, as it is too large or not all there: its words alone, without refs."""
    why = _COMING if window.events.loading() else _LARGE
    try:
        return await window.running(flat_capture(window.page, window.events.status, why), window.limits.repair)
    except (TimeoutError, Error, DialogOpened) as error:
        raise PageLost("too slow to be read") from error
