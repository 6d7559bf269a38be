"""Pressing keys."""

from __future__ import annotations

from browser_agent.actions.elements import find, milliseconds, trying
from browser_agent.actions.union import Press
from browser_agent.window import Window


async def press(window: Window, action: Press) -> str:
    """Press a key on an element, or on whatever has the focus.

    Raises:
        Stop: the ref is stale, or there is no such key.
    """
    if action.ref is None:
        await trying(window, window.page.keyboard.press(action.key), "the page")
        return "pressed the key"
    element, _ = await find(window, action.ref)
    await trying(window, element.press(action.key, timeout=milliseconds(window)), action.ref)
    return f"pressed the key on {action.ref}"
