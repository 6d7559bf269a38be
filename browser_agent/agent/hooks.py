"""What a program may be told of a run before and after each step and action, and how it holds them back."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser_agent.actions import ActionResult, PageAction
    from browser_agent.deciders.decision import Decision
    from browser_agent.observation import Observation

__all__ = ["Hooks", "Verdict", "allowed", "veto"]

Verdict = bool | str | None
"""What a hook says: `False`, or a reason in words, holds back; anything else lets it be."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions of a program, sync or async, that a run calls; each may hold back what it is told of.

    Args:
        before_step: given a decision and the page it was made on. Held back, none of it is done, and the decider is told why.
        before_action: given an action and that page. Held back, it and those behind it are left undone, and the decider is told why.
        after_action: given what came of an action. Where it says no, the run stops after the step.
    """

    before_step: Callable[[Decision, Observation | None], Verdict | Awaitable[Verdict]] | None = None
    before_action: Callable[[PageAction, Observation | None], Verdict | Awaitable[Verdict]] | None = None
    after_action: Callable[[ActionResult], Verdict | Awaitable[Verdict]] | None = None


async def veto(name: str, said: Verdict | Awaitable[Verdict]) -> str:
    """Why a hook of this name holds back; empty where it does not."""
    verdict = await said if inspect.isawaitable(said) else said
    if verdict is False:
        return f"{name} held it back"
    return f"{name} held it back: {verdict}" if isinstance(verdict, str) and verdict else ""


async def allowed(
    hooks: Hooks, actions: Sequence[PageAction], page: Observation | None
) -> tuple[tuple[PageAction, ...], str]:
    """The actions that may be done, up to the first that is held back, and why that one is; empty where none is."""
    if hooks.before_action is None:
        return tuple(actions), ""
    for at, action in enumerate(actions):
        why = await veto("before_action", hooks.before_action(action, page))
        if why:
            return tuple(actions[:at]), why
    return tuple(actions), ""
