"""Clicks, hovers, drags, presses keys and scrolls."""

from __future__ import annotations

import contextlib
from importlib.resources import files

from playwright.async_api import Error, Locator, Position

from browser_agent.actions.elements import attempt, find_element, milliseconds, name_cover, reveal_at, reveal_secrets
from browser_agent.actions.outcome import Said, Stop
from browser_agent.actions.union import Click, Drag, Hover, Press, Scroll
from browser_agent.browser.window import Window

_ASIDE = ((0.1, 0.5), (0.9, 0.5), (0.5, 0.1), (0.5, 0.9))
_ASIDE_MS = 250
_SCROLL = files("browser_agent.actions").joinpath("scroll.js").read_text(encoding="utf-8")
_LET_GO = """(from, to) => {
  const start = from.getBoundingClientRect(), end = to.getBoundingClientRect();
  const past = (from, to) => Math.abs(to - from) > 1 ? Math.sign(to - from) : 0;
  const x = end.width * (4 + past(start.x, end.x)) / 8, y = end.height * (4 + past(start.y, end.y)) / 8;
  const under = document.elementFromPoint(end.x + x, end.y + y);
  return { place: { x: x - to.clientLeft, y: y - to.clientTop }, over: from.contains(under) && !from.contains(to) };
}"""
"""Where to let go, from the inner edge of a border: what sorts by halves takes the exact middle for the half that a drag comes from, and a straight drag
that ends a border's width aside for one that goes there. And whether what is dragged lies over that place already.
"""
_STEPS = 10
"""Moves in one drag: what sorts as it is dragged over compares each with the one before."""
_FOCUSED = "() => document.activeElement !== null && ![document.body, document.documentElement].includes(document.activeElement)"
_NO_FOCUS = "the key went to the page as a whole: nothing has the focus"
_GROWS = 1.0
"""Seconds in which a list that goes on without an end brings its next part."""


async def click(window: Window, action: Click) -> str:
    """Click an element. Raises Stop: the ref is stale, or the element cannot be clicked."""
    element, _ = await find_element(window, action.ref)
    try:
        await attempt(window, element.click(timeout=milliseconds(window)), action.ref)
    except Stop as stop:
        if not stop.covered:
            raise
        if not await _click_aside(window, element):
            raise await name_cover(window, element, action.ref) from stop
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


async def press(window: Window, action: Press) -> str | Said:
    """Press a key on an element, or on whatever has the focus. Raises Stop: the ref is stale, there is no such key, or it stands for a secret of another site."""
    if action.ref is None:
        key = reveal_at(window, window.page.url, action.key)
        focused = await _has_focus(window)
        await attempt(window, window.page.keyboard.press(key), "the page")
        return "pressed the key" if focused else Said("pressed the key", _NO_FOCUS)
    element, _ = await find_element(window, action.ref)
    key = await reveal_secrets(window, element, action.ref, action.key)
    await attempt(window, element.press(key, timeout=milliseconds(window)), action.ref)
    return f"pressed the key on {action.ref}"


async def _has_focus(window: Window) -> bool:
    """Whether an element of the page has the focus; one that cannot be asked counts as having it."""
    try:
        return bool(await window.running(window.page.evaluate(_FOCUSED), window.limits.probe))
    except (Error, TimeoutError):
        return True


async def hover(window: Window, action: Hover) -> str:
    """Move the pointer over an element. Raises Stop: the ref is stale, or another element covers it."""
    element, _ = await find_element(window, action.ref)
    await attempt(window, element.hover(timeout=milliseconds(window)), action.ref)
    return f"the pointer is over {action.ref}"


async def drag(window: Window, action: Drag) -> str:
    """Drag an element onto another. Raises Stop: a ref is stale, or an element cannot be reached."""
    element, _ = await find_element(window, action.ref)
    onto, _ = await find_element(window, action.to)
    found = await attempt(window, element.evaluate(_LET_GO, await onto.element_handle()), action.ref)
    if found["over"]:  # Playwright takes it for a cover
        await attempt(window, element.hover(timeout=milliseconds(window), trial=True), action.ref)
    moved = element.drag_to(
        onto, target_position=found["place"], steps=_STEPS, timeout=milliseconds(window), force=found["over"]
    )
    await attempt(window, moved, action.ref)
    return f"dragged {action.ref} to {action.to}"


async def scroll(window: Window, action: Scroll) -> str | Said:
    """Scroll the page, or the area an element is in; at its end, wait for a list that goes on to bring its next part. Raises Stop: the ref is stale."""
    how = [action.direction, _GROWS * window.limits.pace * 1000]
    if action.ref is None:
        moved = await attempt(window, window.page.evaluate(_SCROLL, [None, *how]), "the page")
    else:
        element, _ = await find_element(window, action.ref)
        script = f"(element, how) => ({_SCROLL})([element, ...how])"
        moved = await attempt(window, element.evaluate(script, how), action.ref)
    if moved == "nowhere":
        return Said("scrolled", f"{action.direction}: at the end already")
    return f"scrolled {action.direction}{'; more came' if moved == 'grew' else ''}"
