"""A browser agent with a token budget for each observation; it records every step in a `ctxfold.Session`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser_agent.actions import Action as Action
    from browser_agent.actions import ActionResult as ActionResult
    from browser_agent.actions import Outcome as Outcome
    from browser_agent.actions import PageAction as PageAction
    from browser_agent.actions.perform import perform as perform
    from browser_agent.agent.agent import BrowserAgent as BrowserAgent
    from browser_agent.agent.result import Hooks as Hooks
    from browser_agent.agent.result import RunResult as RunResult
    from browser_agent.agent.result import RunUsage as RunUsage
    from browser_agent.agent.result import Safety as Safety
    from browser_agent.agent.result import StepTaken as StepTaken
    from browser_agent.agent.settings import BrowserChoice as BrowserChoice
    from browser_agent.agent.settings import Keeping as Keeping
    from browser_agent.agent.settings import RunLimits as RunLimits
    from browser_agent.agent.settings import Watching as Watching
    from browser_agent.browser.browser import Browser as Browser
    from browser_agent.browser.limits import Folders as Folders
    from browser_agent.browser.window import Window as Window
    from browser_agent.deciders import Decision as Decision
    from browser_agent.deciders import Source as Source
    from browser_agent.network.effects import Asked as Asked
    from browser_agent.network.secrets import Secret as Secret
    from browser_agent.observation import Control as Control
    from browser_agent.observation import Link as Link
    from browser_agent.observation import Observation as Observation
    from browser_agent.observation import PageSection as PageSection
    from browser_agent.observation import SearchBox as SearchBox

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
    "observation": "Control Link Observation PageSection SearchBox",
}
_HOMES = {name: f"browser_agent.{room}" for room, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - one table names them


def __getattr__(name: str) -> object:
    """Import a public name from its module, so that a command that prints its help loads no browser library."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
