"""Makes way for an action: dialogs and pages that do not answer stop nobody from going elsewhere."""

from __future__ import annotations

from browser_agent.actions.union import Dialog, Navigate, PageAction, Tab
from browser_agent.browser.faults import PageLost
from browser_agent.browser.window import Window

__all__ = ["lost", "make_way"]

_DIALOGS = 5
"""Dialogs answered in a row, without another action between, after which the next costs a page its life."""
_NEXT = 0.15
"""Seconds in which a page that opens dialog after dialog opens the next."""


def lost(how: PageLost) -> str:
    """What became of a page, and what to do next."""
    return f"the page {how}; an empty tab stands in its place: navigate on from there"


async def make_way(window: Window, action: PageAction) -> None:
    """Clear the way for what leaves a page; leave a dialog open before anything else.

    A page that is left opens its dialogs to nobody: they are dismissed. Where one goes on opening them, or does not
    answer, an address is opened in a fresh tab in its place, and another tab is turned to as if there were none.

    Raises:
        PageLost: a page was to have yet another of its dialogs answered.
        BrowserGone: no browser could be brought back.
    """
    if isinstance(action, Dialog) and window.dialog is not None and window.answered >= _DIALOGS:
        raise PageLost("opened dialog after dialog and was closed")
    if not _leaves(action):
        return
    for _ in range(_DIALOGS):
        if window.dialog is None:
            break
        await window.answer_dialog(False, None)
        await window.dialog_comes(_NEXT)
    if isinstance(action, Tab):
        window.forget_dialog()
    elif window.dialog is not None or window.events.silent_since is not None:
        await window.recover()


def _leaves(action: PageAction) -> bool:
    return isinstance(action, Navigate) or (isinstance(action, Tab) and action.op != "list")
