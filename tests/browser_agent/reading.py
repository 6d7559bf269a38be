"""Reads a snapshot as a stranger would, to check ours against: which refs can be acted on, and a page's whole text."""

from __future__ import annotations

import re

from browser_agent.actions import Read, perform
from browser_agent.window import Window
from tests.browser_agent.doing import seen

_ROLES = (
    "button|checkbox|combobox|link|listbox|menuitem|menuitemcheckbox|menuitemradio|option|radio|searchbox|slider|spinbutton|"
    "switch|tab|textbox|treeitem"
)
_ACTS = re.compile(rf"^ *- '?(?:{_ROLES})\b.*?\[ref=((?:f\d+)?e\d+)\]", re.MULTILINE)
_HAND = re.compile(r"\[ref=((?:f\d+)?e\d+)\] \[cursor=pointer\]")


def interactive(snapshot: str) -> set[str]:
    """Every ref of a snapshot that has an interactive role, or a hand for a pointer."""
    return {*_ACTS.findall(snapshot), *_HAND.findall(snapshot)}


async def whole(window: Window) -> str:
    """The text of all pages of the current page, each checked against the budget."""
    text, number, last = "", 1, 1
    while number <= last:
        page = seen(await perform(window, [Read(kind="read", page=number)]))
        assert page.tokens <= window.budget
        text += page.text + "\n"
        number, last = number + 1, page.pages
    return text
