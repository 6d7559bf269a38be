"""A browser agent whose every observation is budgeted and whose every step is recorded in a `ctxfold.Session`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser_agent.actions import Action, ActionResult, Outcome, PageAction
    from browser_agent.actions.perform import perform
    from browser_agent.agent.agent import BrowserAgent
    from browser_agent.agent.result import Hooks, RunResult, RunUsage, Safety, StepTaken
    from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits, Watching
    from browser_agent.browser.browser import Browser
    from browser_agent.browser.limits import Folders
    from browser_agent.browser.window import Window
    from browser_agent.deciders import Decision, Source
    from browser_agent.network.effects import Asked
    from browser_agent.network.secrets import Secret
    from browser_agent.observation import Control, Link, Observation, SearchBox, Section

_NAMES = {
    "actions": "Action ActionResult Outcome PageAction",
    "actions.perform": "perform",
    "agent.agent": "BrowserAgent",
    "agent.result": "Hooks RunResult Safety StepTaken RunUsage",
    "agent.settings": "BrowserChoice Keeping RunLimits Watching",
    "browser.browser": "Browser",
    "browser.limits": "Folders",
    "browser.window": "Window",
    "deciders": "Decision Source",
    "network.effects": "Asked",
    "network.secrets": "Secret",
    "observation": "Control Link Observation SearchBox Section",
}
_HOMES = {name: f"browser_agent.{room}" for room, names in _NAMES.items() for name in names.split()}

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
    "Hooks",
    "Keeping",
    "Link",
    "Observation",
    "Outcome",
    "PageAction",
    "RunLimits",
    "RunResult",
    "RunUsage",
    "Safety",
    "SearchBox",
    "Secret",
    "Section",
    "Source",
    "StepTaken",
    "Watching",
    "Window",
    "perform",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for, so that a command that prints its help starts no browser library."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
