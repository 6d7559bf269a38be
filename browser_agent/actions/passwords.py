"""Hides what is typed into password fields: from then on it is known as `<secret:typed-N>`, in what is recorded and asked as in what is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from playwright.async_api import Error, Locator

from browser_agent.actions.names import find_named, is_ref
from browser_agent.actions.union import Action as AnyAction
from browser_agent.actions.union import FillForm, Navigate, Press, Type
from browser_agent.browser.faults import DialogOpened, PageLost, PageSilent
from browser_agent.browser.window import Window
from browser_agent.network.secrets import Secret
from browser_agent.observation.capture import is_called_password
from browser_agent.observation.inline import FIELDS

__all__ = ["hide_typed", "learn_typed"]

A = TypeVar("A", bound=AnyAction)

_UNASKED = (Error, TimeoutError, PageLost, PageSilent, DialogOpened)
"""What says that the page cannot be asked now."""
_GUARDED = """e => e.type === 'password' || /password|one-time-code|cc-csc/i.test(e.autocomplete || '')
  || getComputedStyle(e).webkitTextSecurity !== 'none'"""
_FOCUSED = f"""() => {{
  let e = document.hasFocus() ? document.activeElement : null;
  while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement;
  return !!e && ({_GUARDED})(e);
}}"""


async def hide_typed(
    window: Window, actions: Sequence[A], renamed: Mapping[str, str] = MappingProxyType({})
) -> tuple[A, ...]:
    """The actions with a placeholder for each text that goes into a password field as the page stands; the window keeps its value.

    What cannot be looked at now is left: a stale ref, or a page that hangs, takes no text either. A field that is called by its name is found as the
    page stands, else told by that name: then it belongs to the site that the call opened before. `renamed`: the ref that stands for one that an action names, where it is another.
    """
    window.begin()
    hidden, url = [], window.page.url
    for action in actions:
        url = action.url if isinstance(action, Navigate) else url
        hidden.append(await _hide(window, action, renamed, url))
    return tuple(hidden)


async def learn_typed(window: Window, ref: str, element: Locator, text: str) -> None:
    """Keep `text` out of sight from now on where the field it was typed into is one for passwords: a page may make it one as it is entered."""
    if text and not window.settings.secrets.stands_for_one(text) and await _is_guarded(window, ref, element):
        await _placeholder(window, element, text)


async def _hide(window: Window, action: A, renamed: Mapping[str, str], url: str) -> A:
    match action:
        case Type(ref=ref, text=text):
            return action.model_copy(update={"text": await _hidden(window, renamed.get(ref, ref), text, url)})
        case FillForm(fields=fields):
            values = [await _hidden(window, renamed.get(field.ref, field.ref), field.value, url) for field in fields]
            filled = (field.model_copy(update={"value": value}) for field, value in zip(fields, values, strict=True))
            return action.model_copy(update={"fields": tuple(filled)})
        case Press(key=key, ref=None) if len(key) == 1 and await _has_guarded_focus(window):
            return action.model_copy(update={"key": window.settings.secrets.learn(key, window.page.url).placeholder})
        case Press(key=key, ref=str() as ref) if len(key) == 1:
            return action.model_copy(update={"key": await _hidden(window, renamed.get(ref, ref), key, url)})
        case _:
            return action


async def _hidden(window: Window, target: str, text: str, url: str) -> str:
    """`text`, or what stands for it where it goes into a password field; `url`: the page that stands there then."""
    secrets = window.settings.secrets
    if not text or secrets.stands_for_one(text):
        return text
    ref = target if is_ref(target) else _ref_of(window, target, url)
    if ref is None and is_called_password(target):
        return secrets.learn(text, url).placeholder
    if ref is None or ref not in window.controls.now:
        return text
    element = window.element(ref)
    if not await _is_guarded(window, ref, element):
        return text
    secret = await _placeholder(window, element, text)
    return text if secret is None else secret.placeholder


def _ref_of(window: Window, name: str, url: str) -> str | None:
    """The field of that name on the page as it was seen last; None where the call leaves it before, or it has none."""
    found = find_named(window.controls.now, name, FIELDS) if url == window.page.url else ()
    return found[0].ref if len(found) == 1 else None


async def _is_guarded(window: Window, ref: str, element: Locator) -> bool:
    """Whether a field is one for passwords, by what the page says of it or by its name."""
    control = window.controls.now.get(ref)
    if control is not None and is_called_password(control.name):
        return True
    try:
        return bool(await window.running(element.evaluate(_GUARDED, timeout=_time(window)), window.limits.probe))
    except _UNASKED:
        return False


async def _has_guarded_focus(window: Window) -> bool:
    for frame in window.page.frames:
        try:
            if await window.running(frame.evaluate(_FOCUSED), window.limits.probe):
                return True
        except _UNASKED:
            continue
    return False


async def _placeholder(window: Window, element: Locator, text: str) -> Secret | None:
    """The secret that `text` is in the frame of an element; None for an element that went away."""
    try:
        handle = await window.running(element.element_handle(timeout=_time(window)), window.limits.probe)
        frame = await window.running(handle.owner_frame(), window.limits.probe)
    except _UNASKED:
        return None
    return window.settings.secrets.learn(text, frame.url if frame is not None else "")


def _time(window: Window) -> float:
    return window.limits.probe * 1000
