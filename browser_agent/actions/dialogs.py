"""Answering alerts, confirmations and prompts."""

from __future__ import annotations

from browser_agent.actions.stop import Stop
from browser_agent.actions.union import Dialog
from browser_agent.window import Window


async def dialog(window: Window, action: Dialog) -> str:
    """Answer the open dialog.

    Raises:
        Stop: none is open.
    """
    if not await window.answer_dialog(action.accept, action.text):
        raise Stop("nothing_to_do", "no dialog is open")
    return "accepted the dialog" if action.accept else "dismissed the dialog"
