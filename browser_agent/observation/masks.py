"""Decides which fields of a page hold passwords, and masks their values in snapshots and in pictures."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Sequence
from typing import Any

from playwright.async_api import ElementHandle, Error, Locator, Page

from ctxfold.log.page import split, unquote

MASK = "••••••••"
"""The text shown for a password of any length."""

_NAMES = ("passw", "passphrase", "passcode", "kennwort", "contrase", "mot de passe")
"""Parts of the names that sites give to password fields."""
_CALLED = re.compile(rf"{'|'.join(_NAMES)}|\bpin\b", re.IGNORECASE)
_AUTOCOMPLETE = ("password", "one-time-code", "cc-csc")
"""Parts of the `autocomplete` values that HTML defines for fields that hold a password or a code used once."""
IS_PASSWORD = f"""e => e.type === 'password' || /{"|".join(_AUTOCOMPLETE)}/i.test(e.autocomplete || '')
  || getComputedStyle(e).webkitTextSecurity !== 'none'"""
"""A script that says whether a field hides its value from whoever looks at the screen."""
_HAS_FOCUS = f"""() => {{
  let e = document.hasFocus() ? document.activeElement : null;
  while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement;
  return !!e && ({IS_PASSWORD})(e);
}}"""

_COVERED = ", ".join(
    (
        "input[type=password]",
        *(
            f"input[{attribute}*='{word}' i]"
            for attribute in ("name", "id", "autocomplete", "placeholder", "aria-label")
            for word in (*_NAMES, *_AUTOCOMPLETE, "secret", "cc-number")
        ),
    )
)
"""Fields covered in every picture. A picture is kept as it is, so it covers more than a snapshot masks."""
_EVERY_FIELD = "input:not([type=submit]):not([type=button]), textarea, [contenteditable]:not([contenteditable=false])"

_ROLES = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
FIELD_LINES = tuple(f"- {quote}{role}" for role in sorted(_ROLES) for quote in ("", "'"))
"""How the line of a field begins in a snapshot."""


def is_called_password(name: str) -> bool:
    """Return whether a field of that name holds a password, even if the page shows its text."""
    return _CALLED.search(name) is not None


def mask_passwords(yaml: str, secrets: Sequence[str], *, every_field: bool) -> str:
    """Mask the values of password fields in a snapshot.

    Args:
        yaml: the snapshot.
        secrets: the values that the page's own document gives for its password fields.
        every_field: mask the value of every field, because some frame did not tell which of its fields hold a password.
    """
    known = {_squeeze(secret) for secret in secrets}
    lines = yaml.split("\n")
    inside: int | None = None
    named = False
    for number, line in enumerate(lines):
        body = line.lstrip(" ")
        depth = len(line) - len(body)
        if not body.startswith(FIELD_LINES) and (inside is None or depth <= inside):
            inside = None
            continue
        key, value = split(body[2:])
        if inside is not None and depth > inside:
            within = key == "text"
        else:
            within = key.partition(" ")[0] in _ROLES
            inside = depth if within else None
            named = within and is_called_password(key)
        if within and value and (every_field or named or _squeeze(unquote(value)) in known):
            lines[number] = line[: len(line) - len(value)] + MASK
    return "\n".join(lines)


def _squeeze(text: str) -> str:
    return " ".join(text.split())


async def is_password(field: Locator | ElementHandle, seconds: float, *, if_gone: bool = True) -> bool:
    """Ask a field whether it holds a password. One that does not say so within `seconds` counts as one, and one that is
    gone as `if_gone`.
    """
    return await _ask(field.evaluate(IS_PASSWORD), seconds, if_gone)


async def has_password_focus(page: Page, seconds: float) -> bool:
    """Return whether keys go into a password field now. A frame that does not say so within `seconds` counts as having
    one.
    """
    return any(await asyncio.gather(*(_ask(frame.evaluate(_HAS_FOCUS), seconds) for frame in page.frames)))


async def _ask(answer: Awaitable[Any], seconds: float, if_gone: bool = True) -> bool:
    try:
        return bool(await asyncio.wait_for(answer, seconds))
    except TimeoutError:
        return True
    except Error:
        return if_gone


def find_covered(page: Page, *, every_field: bool) -> list[Locator]:
    """Return the fields that a picture of a page must cover, in all its frames; `every_field` covers all that take
    text.
    """
    covered = f"{_COVERED}, {_EVERY_FIELD}" if every_field else _COVERED
    return [frame.locator(covered) for frame in page.frames]
