"""Opens, closes and switches tabs, and answers dialogs."""

from __future__ import annotations

from typing import assert_never

from playwright.async_api import Error

from browser_agent.actions.navigate import check_address, navigate
from browser_agent.actions.outcome import Stop
from browser_agent.actions.union import Dialog, Navigate, Tab
from browser_agent.browser.window import Window


async def dialog(window: Window, action: Dialog) -> str:
    """Answer the open dialog. Raises Stop: none is open."""
    if not await window.answer_dialog(action.accept, action.text):
        raise Stop("nothing_to_do", "no dialog is open")
    return "accepted the dialog" if action.accept else "dismissed the dialog"


async def tab(window: Window, action: Tab) -> str:
    """Do one thing with the tabs. Raises Stop: there is no such tab, or its address cannot be opened."""
    match action.op:
        case "list":
            return f"{len(window.pages)} open"
        case "new":
            if action.url is not None:
                check_address(action.url)
            await window.new_tab()
            if action.url is not None:
                await navigate(window, Navigate(kind="navigate", url=action.url))
            return "opened a tab"
        case "switch":
            page = window.pages[_tab_index(window, action.index)]
            window.turn_to(page)
            await window.running(page.bring_to_front(), window.limits.action)
            return "switched tabs"
        case "close":
            page = window.pages[_tab_index(window, action.index)] if action.index else window.page
            if len(window.pages) == 1:
                await window.new_tab()
            try:
                await window.running(page.close(), window.limits.action)
            except Error as error:
                raise Stop("not_possible", "the tab does not close") from error
            return "closed the tab"
        case _:
            assert_never(action.op)


def _tab_index(window: Window, index: int | None) -> int:
    if index is None or index > len(window.pages):
        raise Stop("nothing_to_do", f"there is no such tab; {len(window.pages)} open")
    return index - 1
