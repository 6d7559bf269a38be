"""Finds the element behind a ref on the page, and turns Playwright's errors into `Stop`."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from playwright.async_api import Error, Locator

from browser_agent.actions.outcome import Stop
from browser_agent.browser.window import Window
from browser_agent.observation.inline import clean
from browser_agent.observation.values import Control

T = TypeVar("T")

_COVERED = "intercepts pointer events"
_REASONS = (
    (_COVERED, "another element covers {ref}; deal with that one first"),
    ("element is not enabled", "{ref} is disabled"),
    ("element is not visible", "{ref} is not visible now"),
    ("element is not stable", "{ref} keeps moving; wait and try again"),
    ("element is not editable", "{ref} is read-only"),
    ("outside of the viewport", "{ref} cannot be brought into view"),
    ("not an <input>", "{ref} is no field that takes text"),
    ("not a <select>", "{ref} is no list of options; click it and choose from what opens"),
    ("not a checkbox", "{ref} is no checkbox or radio button"),
    ("not an htmlinputelement", "{ref} is no file field"),
    ("malformed value", "{ref} does not take a value of that form; give dates as YYYY-MM-DD, times as HH:MM"),
    ("cannot type text into", "{ref} takes only numbers"),
    ("cannot set value", "{ref} does not take that value"),
    ("unknown key", "no such key; use names such as Enter, Escape, ArrowDown or Control+A"),
    ("clicking the checkbox did not change", "{ref} does not change by clicking it"),
    ("non-multiple file input", "{ref} takes one file only"),
)


def require_known(window: Window, ref: str) -> Control:
    """What the last observation says of a ref. Raises Stop: it is not in the last observation; said at once, with what is most like it now."""
    control = window.controls.now.get(ref)
    if control is None:
        raise Stop("unknown_ref", f"{ref} is not in the last observation{suggest(window, ref)}")
    return control


async def find_element(window: Window, ref: str) -> tuple[Locator, Control]:
    """The element behind a ref of the last observation. Raises Stop: the ref is not in the last observation, or its element is gone. It says so at once."""
    control = require_known(window, ref)
    element = window.element(ref)
    try:
        there = await window.running(element.count(), window.limits.action)
    except Error:
        there = 0
    if not there:
        raise Stop("stale_ref", f"{ref} is no longer on the page{suggest(window, ref)}")
    return element, control


async def attempt(window: Window, work: Coroutine[Any, Any, T], ref: str) -> T:
    """Do `work` on the element `ref`, in the time one action has. Raises Stop: the element does not take it, in our words."""
    try:
        return await window.running(work, window.limits.action + 0.3)
    except TimeoutError as error:
        raise _explain(str(error), ref, timed_out=True) from error
    except Error as error:
        raise _explain(error.message, ref, timed_out=False) from error


_COVER = """e => {
  const box = e.getBoundingClientRect();
  let cover = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!cover || e.contains(cover)) return [];
  for (let up = cover; up && up !== document.body && !up.contains(e); up = up.parentElement) cover = up;
  const controls = [cover, ...cover.querySelectorAll('a[href],button,input,select,textarea,[role=button],[role=link]')];
  return controls.map(c => (c.getAttribute('aria-label') || c.innerText || c.value || c.title || '').replace(/\\s+/g, ' ').trim()).filter(Boolean).slice(0, 20);
}"""
_COVERING = 4


async def name_cover(window: Window, element: Locator, ref: str) -> Stop:
    """Say what lies over an element by the refs of the controls it holds."""
    try:
        names = await window.running(element.evaluate(_COVER), window.limits.probe)
    except (Error, TimeoutError):
        names = []
    known = window.controls.now.values()
    called = {clean(str(name)) for name in names}
    refs = [one.ref for one in known if one.name and one.name in called and one.ref != ref][:_COVERING]
    what = f", which holds {', '.join(refs)}; use that first" if refs else "; deal with that one first"
    return Stop("not_possible", f"another element covers {ref}{what}", covered=True)


async def reveal_secrets(window: Window, element: Locator, ref: str, text: str) -> str:
    """`text` as it is typed: with each secret in the place of its placeholder. Raises Stop: there is no such secret, or it does not belong to the page the element is in."""
    if not window.settings.secrets.mentioned_in(text):
        return text
    handle = await attempt(window, element.element_handle(timeout=milliseconds(window)), ref)
    frame = await attempt(window, handle.owner_frame(), ref)
    return reveal_at(window, frame.url if frame is not None else "", text)


def reveal_at(window: Window, url: str, text: str) -> str:
    """`text` as it is typed into a document at `url`. Raises Stop: there is no such secret, or it does not belong there."""
    secrets = window.settings.secrets
    try:
        named = secrets.named_in(text)
    except KeyError as error:
        raise Stop("not_possible", "there is no secret of that name; give it with --secret NAME=SOURCE") from error
    for secret in named:
        if not secret.belongs_to(url):
            raise Stop("refused", f"{secret.placeholder} belongs to another site and is not typed here")
    return secrets.fill(text)


def milliseconds(window: Window) -> float:
    """The time one action has, as Playwright counts it."""
    return window.limits.action * 1000


def _explain(message: str, ref: str, *, timed_out: bool) -> Stop:
    lower = message.lower()
    for sign, reason in _REASONS:
        if sign in lower:
            return Stop("not_possible", reason.format(ref=ref), covered=sign == _COVERED)
    if timed_out:
        return Stop("timed_out", f"{ref} did not respond in time; look again before trying once more")
    return Stop("not_possible", f"{ref} cannot take this action")


def suggest(window: Window, ref: str) -> str:
    """What to use in the place of a ref that is none now."""
    near = window.controls.nearest(ref)
    if near is not None and near.ref != ref:
        return f"; the nearest now is {near.ref} ({near.role})"
    return "; refs live for one observation: use one from the latest"
