"""Reads a snapshot as a stranger would, to check ours against: which refs can be acted on, and a page's whole text."""

from __future__ import annotations

import re

from browser_agent.actions import Read
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from tests.browser_agent.doing import seen

_ROLES = frozenset(
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton "
    "switch tab textbox treeitem".split()
)
_LINE = re.compile(r"""^ *- '?([a-z]+)(?: "(?:[^"\\]|\\.)*")?((?: \[[a-z-]+(?:=[^\]]*)?\])*)""", re.MULTILINE)
_REF = re.compile(r" \[ref=((?:f\d+)?e\d+)\]")


def interactive(snapshot: str) -> set[str]:
    """Every ref of a snapshot that has an interactive role, or a hand for a pointer."""
    found: set[str] = set()
    for role, states in _LINE.findall(snapshot):
        ref = _REF.search(states)
        if ref is not None and (role in _ROLES or "[cursor=pointer]" in states):
            found.add(ref[1])
    return found


async def whole(window: Window) -> str:
    """The text of all pages of the current page, each checked against the budget."""
    text, number, last = "", 1, 1
    while number <= last:
        page = seen(await perform(window, [Read(kind="read", page=number)]))
        assert page.tokens <= window.settings.budget
        text += page.text + "\n"
        number, last = number + 1, page.pages
    return text
