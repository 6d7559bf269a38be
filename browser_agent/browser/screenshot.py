"""Takes small screenshots in which password fields, and in a run with secrets all fields, are covered."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Error, Locator

from browser_agent.browser.faults import DialogOpened, PageLost, PageSilent
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from ctxfold.session.screenshots import LARGEST

__all__ = ["take_screenshot"]

SECONDS = 2.0
"""The longest one picture may take."""

_QUALITIES = (50, 25, 8)
"""JPEG qualities tried, until the picture is small enough."""
_HIDDEN = (
    "input[type=password]",
    *(
        f"input[{attribute}*='{word}' i]"
        for attribute in ("name", "id", "autocomplete", "placeholder", "aria-label")
        for word in (
            "passw",
            "passphrase",
            "passcode",
            "secret",
            "one-time",
            "cc-number",
            "cc-csc",
            "kennwort",
            "contrase",
        )
    ),
)
"""Fields that are covered on every page."""
_FIELDS = ("input:not([type=submit]):not([type=button])", "textarea", "[contenteditable]:not([contenteditable=false])")
"""Fields that are covered too where a run has secrets."""
_ROLES = ("- textbox", "- searchbox", "- spinbutton", "- combobox")


async def take_screenshot(window: Window, page: Observation | None) -> bytes | None:
    """Picture the current tab; None where there is no page, a page shows a secret in its words, or it does not hold still. Returns a JPEG of at most `LARGEST` bytes."""
    if page is None or page.dialog is not None or _shows_secret(window, page):
        return None
    options: dict[str, Any] = {"type": "jpeg", "scale": "css", "timeout": SECONDS * 1_000, "mask_color": "#777777"}
    for quality in _QUALITIES:
        shot = window.page.screenshot(mask=_fields_to_cover(window), quality=quality, **options)
        try:
            made: bytes = await window.running(shot, SECONDS)
        except (Error, TimeoutError, DialogOpened, PageLost, PageSilent):
            return None  # the page changes, hangs or is gone: the next look deals with that, a picture is not worth it
        if len(made) <= LARGEST:
            return made
    return None


def _fields_to_cover(window: Window) -> list[Locator]:
    """The fields to cover, in every frame."""
    hidden = ", ".join((*_HIDDEN, *(_FIELDS if window.settings.secrets.all else ())))
    return [frame.locator(hidden) for frame in window.page.frames]


def _shows_secret(window: Window, page: Observation) -> bool:
    """Whether the page shows a secret anywhere but in a field, which is covered."""
    marks = [secret.placeholder for secret in window.settings.secrets.all]
    lines = (line for line in page.full.split("\n") if not line.lstrip().startswith(_ROLES))
    return bool(marks) and any(mark in line for line in lines for mark in marks)
