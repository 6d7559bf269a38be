"""Short words for what tests of the browser do again and again."""

from __future__ import annotations

from browser_agent.actions import Navigate, Outcome, PageAction
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation import Control, Observation


async def visit(window: Window, url: str, need: str = "") -> Observation:
    """Open an address and see it."""
    return seen(await perform(window, [Navigate(kind="navigate", url=url)], need))


async def do(window: Window, *actions: PageAction) -> Outcome:
    """Do these and look."""
    return await perform(window, actions)


def seen(outcome: Outcome) -> Observation:
    """What was seen; fails where nothing was."""
    assert outcome.observation is not None, outcome.message
    return outcome.observation


def control(observation: Observation, role: str, name: str) -> Control:
    """The one control of that role and name."""
    found = [control for control in observation.refs.values() if control.role == role and control.name == name]
    assert len(found) == 1, (role, name, [control for control in observation.refs.values() if control.name])
    return found[0]


def ref(observation: Observation, role: str, name: str) -> str:
    """Its ref."""
    return control(observation, role, name).ref
