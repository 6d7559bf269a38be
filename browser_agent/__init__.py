"""A browser agent whose every observation is budgeted and whose every step is recorded in full.

This package owns the browser: pages become frozen observations, actions are applied to them, and the loop decides what
comes next. It knows no MCP and no storage; a `ctxfold.Session` keeps the log.

Names are loaded when they are first asked for, so that a command that only prints its help starts no browser library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser_agent.actions import Action, ActionResult, Outcome, PageAction, perform
    from browser_agent.agent.agent import BrowserAgent
    from browser_agent.agent.confirm import Asked, Safety
    from browser_agent.agent.result import Result, StepTaken, Usage
    from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits, Watching
    from browser_agent.browser.browser import Browser
    from browser_agent.browser.window import Folders, Window
    from browser_agent.deciders.decision import Decision
    from browser_agent.deciders.sources import Source
    from browser_agent.network.secrets import Secret
    from browser_agent.observation import Control, Link, Observation, SearchBox, Section

_HOMES = {
    "Action": "browser_agent.actions",
    "ActionResult": "browser_agent.actions",
    "Asked": "browser_agent.agent.confirm",
    "Browser": "browser_agent.browser.browser",
    "BrowserAgent": "browser_agent.agent.agent",
    "BrowserChoice": "browser_agent.agent.settings",
    "Control": "browser_agent.observation",
    "Decision": "browser_agent.deciders.decision",
    "Folders": "browser_agent.browser.window",
    "Keeping": "browser_agent.agent.settings",
    "Link": "browser_agent.observation",
    "Observation": "browser_agent.observation",
    "Outcome": "browser_agent.actions",
    "PageAction": "browser_agent.actions",
    "Result": "browser_agent.agent.result",
    "RunLimits": "browser_agent.agent.settings",
    "Safety": "browser_agent.agent.confirm",
    "SearchBox": "browser_agent.observation",
    "Secret": "browser_agent.network.secrets",
    "Section": "browser_agent.observation",
    "Source": "browser_agent.agent.result",
    "StepTaken": "browser_agent.agent.result",
    "Usage": "browser_agent.agent.result",
    "Watching": "browser_agent.agent.settings",
    "Window": "browser_agent.browser.window",
    "perform": "browser_agent.actions",
}

__all__ = [
    "Action",
    "ActionResult",
    "Asked",
    "Browser",
    "BrowserAgent",
    "BrowserChoice",
    "Control",
    "Decision",
    "Folders",
    "Keeping",
    "Link",
    "Observation",
    "Outcome",
    "PageAction",
    "Result",
    "RunLimits",
    "Safety",
    "SearchBox",
    "Secret",
    "Section",
    "Source",
    "StepTaken",
    "Usage",
    "Watching",
    "Window",
    "perform",
]


def __getattr__(name: str) -> object:
    """Load a public name from where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
