"""Clicks, presses keys and scrolls."""

from __future__ import annotations

import contextlib

from playwright.async_api import Error, Locator, Position

from browser_agent.actions.elements import attempt, find_element, milliseconds, reveal_at, reveal_secrets
from browser_agent.actions.outcome import Stop
from browser_agent.actions.union import Click, Press, Scroll
from browser_agent.browser.window import Window

_ASIDE = ((0.1, 0.5), (0.9, 0.5), (0.5, 0.1), (0.5, 0.9))
_ASIDE_MS = 250
_SCROLL = """([start, direction]) => {
  let area = start;
  const sideways = direction === 'left' || direction === 'right';
  const room = e => sideways ? e.scrollWidth - e.clientWidth : e.scrollHeight - e.clientHeight;
  while (area && !(room(area) > 4 && /auto|scroll/.test(getComputedStyle(area).overflow))) area = area.parentElement;
  area = area || document.scrollingElement || document.documentElement;
  const before = [area.scrollLeft, area.scrollTop];
  const x = area.clientWidth * 0.9, y = area.clientHeight * 0.9;
  const by = { up: [0, -y], down: [0, y], left: [-x, 0], right: [x, 0], top: [0, -1e9], bottom: [0, 1e9] }[direction];
  area.scrollBy({ left: by[0], top: by[1], behavior: 'instant' });
  return area.scrollLeft !== before[0] || area.scrollTop !== before[1];
}"""


async def click(window: Window, action: Click) -> str:
    """Click an element.

    Raises:
        Stop: the ref is stale, or the element cannot be clicked.
    """
    element, _ = await find_element(window, action.ref)
    try:
        await attempt(window, element.click(timeout=milliseconds(window)), action.ref)
    except Stop as stop:
        if not stop.covered or not await _click_aside(window, element):
            raise
    return f"clicked {action.ref}"


async def _click_aside(window: Window, element: Locator) -> bool:
    """Click an element whose middle is covered where it is not; whether there was such a place."""
    for across, down in _ASIDE:
        with contextlib.suppress(Error, TimeoutError):
            box = await window.running(element.bounding_box(timeout=_ASIDE_MS), window.limits.probe)
            if box is None:
                return False
            place: Position = {"x": box["width"] * across, "y": box["height"] * down}
            await window.running(element.click(position=place, timeout=_ASIDE_MS), window.limits.probe)
            return True
    return False


async def press(window: Window, action: Press) -> str:
    """Press a key on an element, or on whatever has the focus.

    Raises:
        Stop: the ref is stale, there is no such key, or it stands for a secret of another site.
    """
    if action.ref is None:
        key = reveal_at(window, window.page.url, action.key)
        await attempt(window, window.page.keyboard.press(key), "the page")
        return "pressed the key"
    element, _ = await find_element(window, action.ref)
    key = await reveal_secrets(window, element, action.ref, action.key)
    await attempt(window, element.press(key, timeout=milliseconds(window)), action.ref)
    return f"pressed the key on {action.ref}"


async def scroll(window: Window, action: Scroll) -> str:
    """Scroll the page, or the area an element is in.

    Raises:
        Stop: the ref is stale, or there is nothing further that way.
    """
    if action.ref is None:
        moved = await attempt(window, window.page.evaluate(_SCROLL, [None, action.direction]), "the page")
    else:
        element, _ = await find_element(window, action.ref)
        script = f"(element, direction) => ({_SCROLL})([element, direction])"
        moved = await attempt(window, element.evaluate(script, action.direction), action.ref)
    if not moved:
        raise Stop("nothing_to_do", "there is nothing further that way")
    return f"scrolled {action.direction}"
